// Clean-up that takes its time after a cancellation, and tokens inside of coroutines.
#include "harness.hpp"

#include <stdexcept>

TEST("what a shielded promise stands for is not cancelled with it, and waited for") {
    auto ends = vow::pending<int>();
    int told = 0;
    ends.resolver.on_cancel([&told] { told++; });
    vow::promise<int> p = vow::shield(std::move(ends.promise));
    CHECK(p.cancel());
    CHECK(!p.is_settled());
    ends.resolver.resolve(1);
    CHECK_EQ(told, 0);
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(vow::shield(vow::fulfilled(3)).get(), 3);
}

TEST("finally's clean-up behind a shield is not cancelled") {
    auto ends = vow::pending<void>();
    auto clean = vow::pending<int>();
    auto p =
        std::move(ends.promise)
            .finally([&] { return vow::shield(std::move(clean.promise)); }, vow::inline_executor());
    CHECK(p.cancel());
    CHECK(!p.is_settled());
    CHECK(!p.cancel());
    CHECK(clean.resolver.resolve(1));
    CHECK_THROWS(vow::cancelled, p.get());
}

#if defined(__cpp_impl_coroutine)

namespace {

vow::promise<int> cleans_up(std::atomic<int> &steps) {
    const tracked local;
    try {
        co_await vow::delay(1h);
    } catch (const vow::cancelled &) {
        steps++;
    }
    steps += co_await vow::shield(vow::delay(1ms).then([] { return 10; }));
    const auto flush = [](int by) -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return by;
    };
    auto flushed = vow::shield(flush(100));
    steps += co_await std::move(flushed);
    try {
        co_await vow::delay(1h);
    } catch (const vow::cancelled &) {
        steps += 1000;
    }
    co_return 0;
}

} // namespace

TEST("a cancelled coroutine awaits what it has shielded") {
    std::atomic<int> steps{0};
    auto p = cleans_up(steps);
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(steps.load(), 1111);
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("a cancellation while a coroutine awaits something shielded comes at its next co_await") {
    auto ends = vow::pending<int>();
    std::atomic<int> seen{0};
    auto p = [](vow::promise<int> from, std::atomic<int> &to) -> vow::promise<void> {
        to = co_await vow::shield(std::move(from));
        co_await vow::delay(1h);
        to = -1;
    }(std::move(ends.promise), seen);
    CHECK(p.cancel());
    CHECK(!p.is_settled());
    CHECK(ends.resolver.resolve(5));
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(seen.load(), 5);
}

TEST("a coroutine has a token that is cancelled with its promise") {
    auto others = vow::pending<int>();
    auto p = [](vow::promise<int> shared) -> vow::promise<bool> {
        vow::options until;
        until.token = co_await vow::current_token();
        CHECK(!until.token.is_cancelled());
        auto mine = shared.then([](int n) { return n; }, until);
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
        }
        CHECK_EQ(mine.state() == vow::state::rejected, true);
        CHECK(until.token.is_cancelled());
        CHECK((co_await vow::current_token()).is_cancelled());
        co_return true;
    }(others.promise);
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    others.resolver.resolve(1);
    CHECK_EQ(others.promise.get(), 1);
    auto late = []() -> vow::promise<bool> {
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
        }
        CHECK((co_await vow::current_token()).is_cancelled());
        co_return true;
    }();
    CHECK(late.cancel());
    late.wait();
}

#endif
