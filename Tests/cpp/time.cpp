// Delays, time-outs, retries, loops.
#include "harness.hpp"

#include <stdexcept>
#include <unistd.h>

TEST("a delay takes its time, and a negative one is refused") {
    const auto begin = vow::clock::now();
    vow::delay(5ms).get();
    CHECK(vow::clock::now() - begin >= 5ms);
    CHECK_THROWS(vow::error, vow::delay(-1ns).get());
    CHECK(vow::delay(std::chrono::hours::max()).state() == vow::state::pending);
    CHECK(vow::delay(std::chrono::duration<double>(0.001)).wait() == vow::state::fulfilled);
}

TEST("a delay until a time of any clock is over when that has come, and at once when it is past") {
    const auto soon = std::chrono::steady_clock::now() + 5ms;
    vow::delay_until(soon).get();
    CHECK(std::chrono::steady_clock::now() >= soon);
    vow::delay_until(std::chrono::system_clock::now() - 1h).get();
    vow::delay_until(std::chrono::system_clock::time_point::min()).get();
    using days = std::chrono::duration<int, std::ratio<86400>>;
    using day = std::chrono::time_point<std::chrono::system_clock, days>;
    CHECK(vow::delay_until(day::max()).state() == vow::state::pending);
    CHECK(vow::delay_until(vow::clock::time_point::max()).state() == vow::state::pending);
    vow::loop loop = vow::loop::virtual_time();
    auto later =
        vow::async(loop.executor(), [] { return vow::delay_until(vow::clock::now() + 1h); });
    loop.advance(59min);
    CHECK(!later.is_settled());
    loop.advance(1min);
    CHECK(later.is_settled());
}

TEST("a time-out cancels what takes too long") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    std::atomic<bool> told{false};
    r.on_cancel([&] { told = true; });
    CHECK_THROWS(vow::timed_out, vow::timeout(std::move(p), 1ms).get());
    CHECK(comes_true([&] { return told.load(); }));
    CHECK_EQ(vow::fulfilled(3).timeout(1h).get(), 3);
    CHECK_THROWS(vow::error, vow::delay(1h).timeout(-1ns).get());
}

TEST("retry tries until it works, and hears which attempt it is") {
    std::atomic<int> calls{0};
    auto p = vow::retry({}, [&, t = tracked()](std::int64_t attempt) {
        calls++;
        if (attempt < 3)
            throw std::runtime_error("not yet");
        return int(attempt);
    });
    CHECK_EQ(p.get(), 3);
    CHECK_EQ(calls.load(), 3);
    CHECK_EQ(vow::retry({}, [] { return vow::fulfilled(4); }).get(), 4);
}

TEST("retry gives up with the last exception, or when it is told to") {
    vow::retry_policy policy;
    policy.attempts = 2;
    auto own = vow::retry(policy, []() -> int { throw vow::error("own", 1, "no"); });
    CHECK_EQ(CHECK_THROWS(vow::error, own.get())->attempts(), 2);
    policy.attempts = 0;
    policy.may_retry = [t = tracked()](std::exception_ptr exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const std::out_of_range &) {
            return false;
        } catch (...) {
            return true;
        }
    };
    auto p = vow::retry(policy, [](std::int64_t attempt) {
        if (attempt == 4)
            throw std::out_of_range("enough");
        throw std::runtime_error("again");
    });
    CHECK_THROWS(std::out_of_range, p.get());
    policy.factor = -1;
    CHECK_THROWS(vow::error, vow::retry(policy, [] {}).get());
}

TEST("a deadline ends the attempts") {
    vow::retry_policy policy;
    policy.attempts = 0;
    policy.first_delay = 1ms;
    policy.deadline = 10ms;
    CHECK_THROWS(vow::timed_out, vow::retry(policy, [] { throw std::runtime_error("x"); }).get());
}

TEST("a loop runs handlers on the program's thread") {
    vow::loop loop;
    const auto here = std::this_thread::get_id();
    auto p = vow::delay(1ms).then([=] { return std::this_thread::get_id() == here; });
    CHECK(loop.run_until(p) == vow::state::fulfilled);
    CHECK(p.get());
    CHECK(loop.descriptor() >= 0);
    CHECK_EQ(loop.run_once(0ms), 0);
    loop.wake();
    loop.run_once();
    CHECK(loop.run_until(vow::pending<int>().promise, 0ms) != vow::state::fulfilled);
    vow::loop moved = std::move(loop);
    CHECK(vow::async(moved.executor(), [] { return true; }).get());
}

TEST("on a virtual loop an hour passes at once") {
    const auto loop = vow::loop::virtual_time();
    auto p = vow::delay(1h).then([] { return 1; });
    const auto begin = vow::clock::now();
    CHECK(!p.is_settled());
    CHECK(loop.advance(1h) > 0);
    CHECK(vow::clock::now() - begin == 1h);
    CHECK_EQ(p.get(), 1);
}

TEST("what is queued in a loop that ends is rejected and destroyed") {
    vow::promise<int> p;
    {
        const vow::loop loop;
        p = vow::async(loop.executor(), [t = tracked()] { return 1; });
    }
    CHECK_EQ(tracked::alive.load(), 0);
    const auto error = CHECK_THROWS(vow::error, p.get());
    CHECK(error && error->is(vow::errc::shut_down));
    CHECK_THROWS(vow::error, vow::loop().advance(1ms));
}

TEST("a descriptor is ready") {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK(vow::fd_ready(ends[1], vow::readiness::write).get() & vow::readiness::write);
    auto p = vow::fd_ready(ends[0], vow::readiness::read);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    CHECK(p.get() & vow::readiness::read);
    close(ends[0]);
    close(ends[1]);
    CHECK_THROWS(vow::error, vow::fd_ready(-1, vow::readiness::read | vow::readiness::write).get());
}
