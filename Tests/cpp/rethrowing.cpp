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

TEST("a handler that takes an error as a value and cannot throw is called without a throw") {
    const auto code = [](vow::error e) noexcept {
        return std::current_exception() == nullptr ? static_cast<int>(e.code()) : 0;
    };
    CHECK_EQ(rejected_by_library().recover(code).get(), VOW_ETIMEDOUT);
    CHECK_EQ(rejected_by_library().recover(vow::errc::timed_out, code).get(), VOW_ETIMEDOUT);
    CHECK_EQ(vow::rejected<int>(vow::error("disk", 5, "full")).recover("disk", 5, code).get(), 5);
}

TEST("one that can throw is in a catch clause, also where it takes the error as a value") {
    CHECK_THROWS(vow::timed_out,
                 rejected_by_library().recover([](vow::error) -> int { throw; }).get());
    CHECK_THROWS(vow::timed_out,
                 rejected_by_library().recover([](vow::error e) -> int { throw e; }).get());
}

TEST("it is not called for exceptions that are no errors, and is for those that are") {
    struct own_error : vow::error {
        own_error() : vow::error("own", 7, "mine", vow::value::of(11)) {
        }
    };
    const auto payload = [](vow::error e) { return e.payload().as<int>(); };
    CHECK_EQ(vow::rejected<int>(own_error()).recover(payload).get(), 11);
    CHECK_THROWS(std::logic_error, vow::rejected<int>(std::logic_error("no"))
                                       .recover(payload)
                                       .recover([](const vow::error &) { return 1; })
                                       .recover([](const vow::timed_out &) { return 1; })
                                       .get());
}
