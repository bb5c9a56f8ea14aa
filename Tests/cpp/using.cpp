// What was acquired is released, once, however its use ends: vow::use with a release, with a
// resource that releases itself, and in coroutines.
#include "harness.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace {

/// What happened, in one thread; all here runs on the inline executor, or is waited for.
using journal = std::string;

auto releasing(journal &in) {
    return [&in](int number) { in += " release " + std::to_string(number); };
}

/// Destroyed, it says so.
struct lease {
    explicit lease(journal &in) : journal_(&in) {
    }
    lease(lease &&other) noexcept : journal_(std::exchange(other.journal_, nullptr)) {
    }
    lease &operator=(lease &&) = delete;
    ~lease() {
        if (journal_ != nullptr)
            *journal_ += " over";
    }
    void used() const {
        *journal_ += " used";
    }

  private:
    journal *journal_;
};

vow::executor at_once() {
    return vow::inline_executor();
}

} // namespace

TEST("a release is told how the body has ended") {
    std::exception_ptr why;
    auto ended = vow::state::pending;
    const auto release = [&](int) { ended = vow::use_ended(&why); };
    const auto one = [] { return vow::fulfilled(1); };
    CHECK(vow::use(
              one(), [](int number) { return number; }, release, at_once())
              .get() == 1);
    CHECK(ended == vow::state::fulfilled && why == nullptr);
    auto failing = vow::use(
        one(), [](int) -> int { throw std::runtime_error("no"); }, release, at_once());
    CHECK_THROWS(std::runtime_error, failing.get());
    CHECK(ended == vow::state::rejected);
    CHECK_THROWS(std::runtime_error, std::rethrow_exception(why));
    CHECK_THROWS(vow::error, vow::use_ended());
}

TEST("the outcome is that of the body, and comes when the promise of release is through") {
    journal in;
    auto [ended, end] = vow::pending<void>();
    auto p = vow::use(
        vow::fulfilled(7),
        [&](const int &number) {
            in += "use " + std::to_string(number);
            return std::string("rows");
        },
        [&in, gone = std::move(ended)](int number) mutable {
            in += " release " + std::to_string(number);
            return std::move(gone);
        },
        at_once());
    CHECK(!p.is_settled());
    CHECK_EQ(in, "use 7 release 7");
    end.resolve();
    CHECK_EQ(p.get(), "rows");
}

TEST("release waits for the promise that the body returned") {
    journal in;
    auto [rows, arrive] = vow::pending<int>();
    auto p = vow::use(
        vow::fulfilled(1), [later = std::move(rows)](int) mutable { return std::move(later); },
        releasing(in), at_once());
    CHECK_EQ(in, "");
    arrive.resolve(3);
    CHECK_EQ(in, " release 1");
    CHECK_EQ(p.get(), 3);
}

TEST("a body that throws: the resource is released, and the exception comes out as itself") {
    journal in;
    auto p = vow::use(
        vow::fulfilled(1), [](int) -> int { throw std::out_of_range("no row"); }, releasing(in),
        at_once());
    CHECK_THROWS(std::out_of_range, p.get());
    CHECK_EQ(in, " release 1");
}

TEST("a release that throws rejects a success") {
    auto p = vow::use(
        vow::fulfilled(1), [](int) { return 5; },
        [](int) { throw std::logic_error("not given back"); }, at_once());
    CHECK_THROWS(std::logic_error, p.get());
}

TEST("a resource that is rejected rejects, and nothing is called") {
    journal in;
    auto p = vow::use(
        vow::rejected<int>(std::out_of_range("none")), [](int) {}, releasing(in), at_once());
    CHECK_THROWS(std::out_of_range, p.get());
    CHECK_EQ(in, "");
}

TEST("G15: cancelled in line, in use, on the way back: what had come is released") {
    for (int stage = 0; stage < 3; stage++) {
        journal in;
        auto [resource, come] = vow::pending<int>();
        auto [rows, arrive] = vow::pending<void>();
        auto [ended, end] = vow::pending<void>();
        come.on_cancel([&] { in += " left"; });
        if (stage > 0) { // else they go, unread, with the functions
            arrive.on_cancel([&] { in += " stopped"; });
            end.on_cancel([&] { in += " wrong"; });
        }
        auto p = vow::use(
            std::move(resource),
            [later = std::move(rows)](int) mutable { return std::move(later); },
            [&in, gone = std::move(ended)](int number) mutable {
                in += " release " + std::to_string(number);
                return std::move(gone);
            },
            at_once());
        if (stage > 0)
            come.resolve(4);
        if (stage > 1)
            arrive.resolve();
        CHECK(p.cancel());
        CHECK_EQ(p.is_settled(), stage == 0);
        end.resolve();
        CHECK_THROWS(vow::cancelled, p.get());
        CHECK_EQ(in, stage == 0 ? " left" : stage == 1 ? " stopped release 4" : " release 4");
    }
}

TEST("G15: whoever is quicker, the producer or who cancels: what was opened is closed") {
    std::atomic<int> opened{0}, closed{0};
    for (int round = 0; round < 2000; round++) {
        auto [resource, come] = vow::pending<int>();
        auto p = vow::use(
            std::move(resource), [](int) {}, [&](int) { closed++; }, vow::pool_executor());
        std::thread producer([&opened, give = std::move(come)] { opened += give.resolve(1); });
        p.cancel();
        producer.join();
        p.wait();
    }
    CHECK_EQ(closed.load(), opened.load());
}

TEST("G14: a prompt time-out settles first, a limit inside of the body last; both release") {
    journal in;
    auto loop = vow::loop::virtual_time();
    const auto release = [&](int) { return vow::delay(1s).then([&] { in += " release"; }); };
    auto prompt = vow::use(
                      vow::fulfilled(1), [](int) { return vow::delay(1h); }, release)
                      .timeout(1s, vow::prompt);
    CHECK_THROWS(vow::timed_out, prompt.get());
    CHECK_EQ(in, "");
    auto quiet = vow::use(
        vow::fulfilled(1), [](int) { return vow::delay(1h).timeout(1s); }, release);
    CHECK_THROWS(vow::timed_out, quiet.get());
    CHECK_EQ(in, " release release");
}

TEST("both run on the executor that is given, and a token cancels") {
    const auto serial = vow::serial_executor("use");
    const vow::cancel_source source;
    std::atomic<int> there{0};
    auto [rows, arrive] = vow::pending<void>();
    vow::options where;
    where.executor = serial;
    where.token = source.token();
    auto p = vow::use(
        vow::fulfilled(1),
        [&, later = std::move(rows)](int) mutable {
            there += vow::current_executor() == serial;
            return std::move(later);
        },
        [&](int) { there += vow::current_executor() == serial; }, where);
    while (there == 0)
        std::this_thread::yield();
    source.cancel();
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(there.load(), 2);
}

TEST("a resource that releases itself is gone when the promise settles, and not before") {
    journal in;
    auto [rows, arrive] = vow::pending<int>();
    auto p = vow::use(
        vow::fulfilled(lease(in)),
        [later = std::move(rows)](lease &it) mutable {
            it.used();
            return std::move(later);
        },
        at_once());
    CHECK_EQ(in, " used");
    arrive.resolve(2);
    CHECK_EQ(in, " used over");
    CHECK_EQ(p.get(), 2);
}

TEST("a resource that releases itself is gone though its use throws, or never begins") {
    journal in;
    auto thrown = vow::use(
        vow::fulfilled(lease(in)),
        [](lease &it) -> int {
            it.used();
            throw std::out_of_range("no row");
        },
        at_once());
    CHECK_EQ(in, " used over");
    CHECK_THROWS(std::out_of_range, thrown.get());

    in.clear();
    auto [resource, come] = vow::pending<std::unique_ptr<lease>>();
    auto p = vow::use(
        std::move(resource), [](std::unique_ptr<lease> &it) { it->used(); }, at_once());
    CHECK(p.cancel());
    come.resolve(std::make_unique<lease>(in));
    CHECK_EQ(in, " over");
    CHECK_THROWS(vow::cancelled, p.get());
}

#if defined(__cpp_impl_coroutine)

TEST("G14: of a coroutine that is cancelled the locals go first, the resource next, the promise "
     "settles last") {
    journal in;
    auto [rows, arrive] = vow::pending<void>();
    auto p = vow::use(
        vow::fulfilled(std::make_unique<lease>(in)),
        [&, later = std::move(rows)](std::unique_ptr<lease> &it) -> vow::promise<void> {
            const std::shared_ptr<void> local(nullptr, [&](void *) { in += " local"; });
            it->used();
            co_await later;
        },
        at_once());
    auto seen = p.settled([&](const vow::outcome<void> &) { in += " settled"; }, at_once());
    CHECK_EQ(in, " used");
    CHECK(p.cancel());
    seen.get();
    CHECK_EQ(in, " used local over settled");
}

TEST("a coroutine is a release as well, and is not cancelled") {
    journal in;
    auto loop = vow::loop::virtual_time();
    auto p = vow::use(
        vow::fulfilled(1), [](int) -> vow::promise<void> { co_await vow::delay(1h); },
        [&](int) -> vow::promise<void> {
            co_await vow::delay(1s);
            in += "given back";
        });
    auto cancels = vow::delay(1s).then([&] { p.cancel(); });
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(in, "given back");
}

#endif
