// recover is a catch clause: `throw;` in it passes the exception on.
#include "harness.hpp"

#include <stdexcept>
#include <system_error>

namespace {

vow::promise<int> rejected_by_library() {
    return vow::delay(1h).timeout(0ms).then([] { return 0; });
}

} // namespace

TEST("throw; in recover passes the library's own errors on, as what they are") {
    CHECK_THROWS(vow::timed_out,
                 rejected_by_library()
                     .recover([](const vow::timed_out &) -> int { throw; })
                     .recover([](const vow::error &) -> int { throw; })
                     .recover([](const std::exception &) -> int { throw; })
                     .recover([](std::exception_ptr) -> int { throw; })
                     .recover([]() -> int { throw; })
                     .recover(vow::errc::timed_out, []() -> int { throw; })
                     .recover("vow", VOW_ANY_CODE, [](const vow::error &) -> int { throw; })
                     .get());
}

TEST("throw; in recover passes exceptions of the program on, as the same object") {
    const std::exception *thrown = nullptr;
    auto p =
        vow::rejected<int>(std::logic_error("no")).recover([&](const std::logic_error &e) -> int {
            thrown = &e;
            throw;
        });
    auto q = std::move(p)
                 .recover([](const std::exception &) -> int { throw; })
                 .recover([]() -> int { throw; })
                 .recover([](std::exception_ptr) -> int { throw; });
    try {
        q.get();
        CHECK(false);
    } catch (const std::logic_error &e) {
        CHECK(&e == thrown);
    }
    CHECK_THROWS(int, vow::rejected<int>(42).recover([](int) -> int { throw; }).get());
}

TEST("a handler for other types is not called for the library's errors, nor theirs for others") {
    int called = 0;
    auto p = rejected_by_library()
                 .recover([&](const vow::cancelled &) -> int { return ++called; })
                 .recover([&](const std::runtime_error &) -> int { return ++called; })
                 .recover(vow::errc::broken_promise, [&]() -> int { return ++called; })
                 .recover("other", VOW_ANY_CODE, [&]() -> int { return ++called; });
    CHECK_THROWS(vow::timed_out, p.get());
    CHECK_EQ(called, 0);
}

TEST("a handler that cannot throw is called without a throw") {
    CHECK_EQ(rejected_by_library().recover([](const vow::timed_out &) noexcept { return 3; }).get(),
             3);
    CHECK_EQ(rejected_by_library().recover([]() noexcept { return 4; }).get(), 4);
    CHECK_EQ(vow::rejected<int>(std::logic_error("no"))
                 .recover([](std::exception_ptr e) noexcept { return e != nullptr ? 5 : 0; })
                 .get(),
             5);
}

#if defined(__cpp_impl_coroutine)

TEST("a coroutine that recovers has the exception after a suspension") {
    struct big : std::runtime_error {
        std::vector<int> content = std::vector<int>(64, 7);
        big() : std::runtime_error("a message that is longer than what a string keeps inside") {
        }
        big(const big &) = default;
        ~big() override {
            content.assign(64, -1);
        }
    };
    const int one = 1;
    const int *const at = &one;
    auto p = vow::rejected<int>(big()).recover([at](const big &e) -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return e.content.at(63) + *at;
    });
    CHECK_EQ(p.get(), 8);
    auto q = rejected_by_library().recover([](const vow::error &e) -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return static_cast<int>(e.code());
    });
    CHECK_EQ(q.get(), VOW_ETIMEDOUT);
    auto r = rejected_by_library().recover(vow::errc::timed_out,
                                           [](const vow::error &e) -> vow::promise<int> {
                                               co_await vow::delay(1ms);
                                               co_return static_cast<int>(e.code());
                                           });
    CHECK_EQ(r.get(), VOW_ETIMEDOUT);
    auto s = rejected_by_library().recover([](const std::exception_ptr &e) -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return e != nullptr ? 1 : 0;
    });
    CHECK_EQ(s.get(), 1);
}

#endif
