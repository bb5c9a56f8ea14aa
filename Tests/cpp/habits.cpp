// What users of folly::coro, Asio and the standard's futures look for: the rows of the guide's
// table.
#include "harness.hpp"

#include <stdexcept>

namespace {
vow::promise<int> later(int number) {
    return vow::delay(1ms).then([number] { return number; });
}
vow::promise<int> fails() {
    return vow::delay(1ms).then([]() -> int { throw std::logic_error("fails"); });
}
} // namespace

TEST("what std::promise and std::future do") {
    auto [promise, resolver] = vow::pending<int>();
    const auto shared = promise;
    CHECK(static_cast<bool>(promise));
    CHECK(!promise.is_settled());
    CHECK(promise.wait_for(0ms) == vow::state::pending);
    CHECK(resolver.resolve(3));
    CHECK(!resolver.resolve(4)); // a second time is no exception
    CHECK_EQ(std::move(promise).get(), 3);
    CHECK(!static_cast<bool>(promise));
    CHECK_EQ(shared.get() + shared.get(), 6);
    CHECK_THROWS(vow::broken_promise, [] { return vow::pending<int>().promise; }().get());
    CHECK_EQ(vow::async(vow::pool_executor(), [] { return 5; }).get(), 5);
}

TEST("what the destructor of std::async's future does, a scope does") {
    std::atomic<bool> has_ended{false};
    {
        vow::scope scope;
        scope
            .async([&]() -> vow::promise<void> {
                return vow::delay(1h).finally([&] { has_ended = true; });
            })
            .detach();
        CHECK(comes_true([] { return vow::statistics().pending > 0; }));
    }
    CHECK(has_ended.load() || vow::statistics().pending == 0);
}

TEST("collectAll, collectAllTry, collectAny, collectAllWindowed, timeout and Try") {
    const auto [a, b] = vow::when_all(later(1), later(2)).get();
    CHECK_EQ(a + b, 3);
    CHECK_THROWS(std::logic_error, vow::when_all(later(1), fails()).get());
    const auto [one, other] = vow::all_settled(later(1), fails()).get();
    CHECK(one.has_value() && !other.has_value() && other.exception() != nullptr);
    CHECK_EQ(vow::race(later(7), vow::delay(1h).then([] { return 0; })).get(), 7);
    CHECK_EQ(vow::map(std::vector<int>{1, 2, 3}, later, 2).get().at(2), 3);
    CHECK_THROWS(vow::timed_out, vow::timeout(vow::delay(1h), 1ms).get());
    const auto tried = later(3).settled([](vow::outcome<int> o) { return o.has_value(); });
    CHECK(tried.get());
}

TEST("thenValue, thenError, thenTry, ensure and via") {
    int ensured = 0;
    const auto where = vow::serial_executor();
    auto p = fails()
                 .then([](int n) { return n; }, where)
                 .recover<std::logic_error>([](const auto &) { return 4; })
                 .finally([&] { ensured++; });
    CHECK_EQ(std::move(p).get(), 4);
    CHECK_EQ(ensured, 1);
}

TEST("post, a strand, and a cancellation signal") {
    const auto strand = vow::serial_executor("strand");
    int sum = 0;
    std::vector<vow::promise<void>> posted;
    for (int i = 0; i < 100; i++)
        posted.push_back(vow::async(strand, [&sum, i] { sum += i; }));
    vow::all(std::move(posted)).get();
    CHECK_EQ(sum, 4950);
    const vow::cancel_source signal;
    vow::options slot;
    slot.token = signal.token();
    const auto p = vow::delay(1h).then([] {}, slot);
    CHECK(signal.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
}

#if defined(__cpp_impl_coroutine)

TEST("a Task that is lazy is a function; blockingWait, sleep, the executor and the token") {
    int begun = 0;
    auto task = [&begun]() -> vow::promise<int> {
        begun++;
        co_await vow::delay(1ms);
        co_await vow::resume_on(vow::pool_executor());
        const vow::token token = co_await vow::current_token();
        co_return token.is_cancelled() ? 0 : 6;
    };
    CHECK_EQ(begun, 0);
    CHECK_EQ(task().get(), 6);
    CHECK_EQ(begun, 1);
    // What is cancelled stays so: each co_await that would suspend throws, not only the first.
    int thrown = 0;
    auto stubborn = [&thrown]() -> vow::promise<int> {
        for (int i = 0; i < 3; i++) {
            try {
                co_await vow::delay(1h);
            } catch (const vow::cancelled &) {
                thrown++;
            }
        }
        co_return 1;
    };
    auto p = stubborn();
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(thrown, 3);
}

#endif
