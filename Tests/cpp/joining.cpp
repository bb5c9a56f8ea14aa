// A coroutine's promise settles when its frame has ended, and what joins waits for that.
#include "harness.hpp"

#include <stdexcept>
#include <vector>

#if defined(__cpp_impl_coroutine)

namespace {

/// What children borrow from their parent: it knows how many use it, and whether it is there.
struct local {
    std::atomic<int> users{0};
    std::vector<int> content = std::vector<int>(100, 7);

    ~local() {
        CHECK_EQ(users.load(), 0);
        content.assign(100, -1);
    }
};

/// Uses what it borrows until its very end.
struct borrower {
    local &from;
    tracked counted{};

    explicit borrower(local &used) : from(used) {
        from.users++;
    }
    ~borrower() {
        CHECK_EQ(from.content.at(50), 7);
        from.users--;
    }
};

vow::promise<int> child(local &from) {
    const borrower use(from);
    co_await vow::delay(1h);
    co_return from.content.at(0);
}
/// Needs a while to end after it was cancelled.
vow::promise<int> slow_child(local &from) {
    const borrower use(from);
    try {
        co_await vow::delay(1h);
    } catch (const vow::cancelled &) {
        std::this_thread::yield();
    }
    co_return from.content.at(0);
}
vow::promise<int> parent() {
    local mine;
    co_return co_await child(mine);
}

} // namespace

TEST("G14: a cancelled coroutine's promise settles when its frame has ended, on the pool too") {
    for (int i = 0; i < 500; i++) {
        auto p = [](int) -> vow::promise<int> {
            co_await vow::resume_on(vow::pool_executor());
            co_return co_await parent();
        }(i);
        p.cancel();
        CHECK_THROWS(vow::cancelled, p.get());
        CHECK_EQ(tracked::alive.load(), 0);
    }
}

TEST("a coroutine that was cancelled is cancelled, whatever it returns") {
    auto p = []() -> vow::promise<std::unique_ptr<int>> {
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
        }
        co_return std::make_unique<int>(3);
    }();
    CHECK(p.cancel());
    CHECK(!p.cancel());
    CHECK_THROWS(vow::cancelled, std::move(p).get());
}

namespace {
std::atomic<int> reports{0};
}

TEST("what a cancelled coroutine throws in its clean-up is reported, and it is cancelled") {
    vow::on_unhandled([](std::exception_ptr exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const std::logic_error &) {
            reports++;
        } catch (...) {
            reports += 100;
        }
    });
    auto p = []() -> vow::promise<int> {
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
            throw std::logic_error("in its clean-up");
        }
        co_return 0;
    }();
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK(comes_true([] { return reports == 1; }));
    vow::on_unhandled(nullptr);
}

namespace {

/// Fails while it is cancelled, and does not know of it.
vow::promise<int> failing_late(vow::promise<void> begin, std::function<void()> cancels) {
    co_await std::move(begin);
    cancels();
    throw std::out_of_range("too late");
}

/// Whether `join` of two coroutines reports what the second one fails with while the first one
/// ends.
template <class Join> void check_loser(const char *name, Join join) {
    const vow::loop loop;
    auto begin = vow::pending<void>();
    auto first = vow::pending<int>();
    auto joined = join(std::move(first.promise),
                       failing_late(std::move(begin.promise), [&] { first.resolver.resolve(5); }));
    begin.resolver.resolve();
    loop.run_until(joined);
    CHECK(joined.state() == vow::state::fulfilled);
    if (reports != 0)
        fail(__FILE__, __LINE__, std::string(name) + " reports its loser");
}

} // namespace

TEST("what a loser fails with is not reported, whenever it is cancelled") {
    reports = 0;
    vow::on_unhandled([](std::exception_ptr) { reports++; });
    using promise = vow::promise<int>;
    check_loser("when_any",
                [](promise a, promise b) { return vow::when_any(std::move(a), std::move(b)); });
    check_loser("any", [](promise a, promise b) { return vow::any(std::move(a), std::move(b)); });
    check_loser("race", [](promise a, promise b) { return vow::race(std::move(a), std::move(b)); });
    check_loser("some", [](promise a, promise b) {
        return vow::some(std::vector<promise>{std::move(a), std::move(b)}, 1);
    });
    vow::on_unhandled(nullptr);
}

TEST("a cancelled coroutine that returns a promise cancels that, and waits for it") {
    local mine;
    auto p = [](local &from) -> vow::promise<int> {
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
        }
        co_return slow_child(from);
    }(mine);
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(mine.users.load(), 0);
}

namespace {

vow::promise<int> failing() {
    co_await vow::delay(1ms);
    throw std::out_of_range("a sibling failed");
}
/// A parent whose children borrow what is gone when it has ended.
template <class Wait> vow::promise<int> parent_that(Wait wait) {
    local mine;
    co_return co_await wait(mine);
}

} // namespace

TEST("when_all rejects when the siblings of the one that failed have ended") {
    auto p = parent_that([](local &mine) {
        return vow::when_all(child(mine), failing(), slow_child(mine)).then([](int a, int, int) {
            return a;
        });
    });
    CHECK_THROWS(std::out_of_range, p.get());
    auto q = parent_that([](local &mine) {
        std::vector<vow::promise<int>> all;
        for (int i = 0; i < 50; i++)
            all.push_back(i % 2 ? child(mine) : slow_child(mine));
        all.push_back(failing());
        return vow::when_all(std::move(all)).then([](const std::vector<int> &) { return 1; });
    });
    CHECK_THROWS(std::out_of_range, q.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("when_any has the first value, when the others have ended") {
    auto p = parent_that([](local &mine) {
        return vow::when_any(child(mine), vow::delay(1ms).then([] { return 5; }), failing(),
                             slow_child(mine));
    });
    CHECK_EQ(p.get(), 5);
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("a time-out rejects when what took too long has ended") {
    auto p = parent_that([](local &mine) { return vow::timeout(slow_child(mine), 1ms); });
    CHECK_THROWS(vow::timed_out, p.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("a time-out waits for clean-up that takes a while, also when it is cancelled; a prompt one "
     "not") {
    auto loop = vow::loop::virtual_time();
    std::string in;
    const auto slow = [&](int) -> vow::promise<int> {
        co_await vow::shield(vow::delay(5ms));
        in += "cleaned up, ";
        co_return 0;
    };
    CHECK_THROWS(vow::timed_out, slow(1).timeout(1ms).get());
    CHECK_EQ(in, "cleaned up, ");
    auto left = vow::timeout(slow(2), 1ms);
    loop.advance(2ms);
    CHECK(!left.is_settled() && left.cancel());
    CHECK_THROWS(vow::cancelled, left.get());
    CHECK_EQ(in, "cleaned up, cleaned up, ");
    CHECK_THROWS(vow::timed_out, vow::timeout(slow(3), 1ms, vow::prompt).get());
    CHECK_EQ(in, "cleaned up, cleaned up, ");
    loop.advance(10ms);
    CHECK_EQ(in, "cleaned up, cleaned up, cleaned up, ");
}

TEST("a time-out leaves alone, and does not wait for, what somebody else holds") {
    auto shared = vow::pending<int>();
    CHECK_THROWS(vow::timed_out, shared.promise.timeout(1ms).get());
    CHECK_THROWS(vow::timed_out, shared.promise.timeout(0ms).get());
    shared.resolver.resolve(3);
    CHECK_EQ(shared.promise.timeout(1h).get(), 3);
    CHECK_EQ(shared.promise.get(), 3);
}

TEST("a time-out that nobody reads any more gives up what it waits for") {
    local mine;
    auto p = slow_child(mine).timeout(1h);
    CHECK_EQ(mine.users.load(), 1);
    p.reset();
    CHECK(comes_true([&] { return mine.users == 0; }));
}

TEST("what fails in clean-up after a time-out is reported") {
    reports = 0;
    vow::on_unhandled([](std::exception_ptr) { reports++; });
    auto never = vow::pending<int>();
    auto p = std::move(never.promise)
                 .recover([]() -> int { throw std::logic_error("in the clean-up"); })
                 .timeout(0ms);
    CHECK_THROWS(vow::timed_out, p.get());
    CHECK_EQ(reports.load(), 1);
    vow::on_unhandled(nullptr);
}

TEST("cancelling what joins cancels all, and waits for them") {
    auto p = parent_that([](local &mine) {
        return vow::when_any(
            vow::when_all(child(mine), slow_child(mine)).then([](int a, int) { return a; }),
            vow::timeout(slow_child(mine), 1h));
    });
    CHECK(p.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("the end of a scope's block is the end of its members") {
    for (int i = 0; i < 100; i++) {
        local mine;
        vow::scope scope;
        scope.add(child(mine));
        scope.async(vow::inline_executor(), [&] { return slow_child(mine); }).detach();
        CHECK(scope.add(slow_child(mine)));
    }
}

TEST("a coroutine has a scope whose members end before it goes on") {
    auto p = parent_that([](local &mine) {
        return vow::with_scope([&mine](vow::scope &scope) -> vow::promise<int> {
            scope.add(child(mine));
            scope.add(slow_child(mine));
            co_await vow::delay(1ms);
            throw std::out_of_range("out of the body");
        });
    });
    CHECK_THROWS(std::out_of_range, p.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("captures of retry's function live until the attempt that the deadline ended has ended") {
    const vow::loop loop;
    vow::retry_policy policy;
    policy.deadline = 2ms;
    policy.attempts = 0;
    auto p = vow::retry(policy, [mine = std::make_unique<local>()] { return slow_child(*mine); });
    CHECK_THROWS(vow::timed_out, p.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("captures of map's function live until the calls beside the one that failed have ended") {
    const vow::loop loop;
    auto p = vow::map(std::vector<int>{0, 1, 2, 3},
                      [mine = std::make_unique<local>()](int n) -> vow::promise<int> {
                          const borrower use(*mine);
                          if (n == 2)
                              co_return co_await failing();
                          try {
                              co_await vow::delay(1h);
                          } catch (const vow::cancelled &) {
                              std::this_thread::yield();
                          }
                          co_return mine->content.at(static_cast<std::size_t>(n));
                      });
    CHECK_THROWS(std::out_of_range, p.get());
    CHECK_EQ(tracked::alive.load(), 0);
    auto repeated = vow::repeat(
        0, [](int) { return true; },
        [mine = std::make_unique<local>()](int) { return slow_child(*mine); });
    loop.run_once();
    CHECK(repeated.cancel());
    CHECK_THROWS(vow::cancelled, repeated.get());
    std::vector<vow::promise<int>> numbers(2, vow::fulfilled(1));
    auto reduced =
        vow::reduce(std::move(numbers), 0, [mine = std::make_unique<local>()](int sum, int) {
            return slow_child(*mine).then([sum](int one) { return sum + one; });
        });
    loop.run_once();
    CHECK(reduced.cancel());
    CHECK_THROWS(vow::cancelled, reduced.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("a hundred thousand coroutines are cancelled by one that fails, promptly and joined") {
    for (const bool joins : {false, true}) {
        local mine;
        std::vector<vow::promise<int>> all;
        for (int i = 0; i < 100000; i++)
            all.push_back(child(mine));
        auto [last, fails] = vow::pending<int>();
        all.push_back(std::move(last));
        auto p = joins ? vow::when_all(std::move(all)) : vow::all(std::move(all));
        CHECK_EQ(tracked::alive.load(), 100000);
        fails.reject(std::out_of_range("one of them"));
        CHECK_THROWS(std::out_of_range, p.get());
        CHECK(comes_true([] { return tracked::alive == 0; }));
        CHECK(comes_true([&] { return mine.users == 0; }));
    }
}

#endif
