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

#endif
