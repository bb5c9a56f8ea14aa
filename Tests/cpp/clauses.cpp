// recover finds exceptions without throwing them, and handles them as a catch clause does.
#include "harness.hpp"

#include <stdexcept>
#include <system_error>

namespace {

struct first {
    long one = 1;
    virtual ~first() = default;
};
struct second {
    int two = 2;
    virtual ~second() = default;
};
struct both : first, second {};
struct left : virtual second {};
struct right : virtual second {};
struct diamond : left, right {};
struct own_error : vow::error {
    own_error() : vow::error("own", 7, "mine") {
    }
};
struct only_moved : std::runtime_error {
    std::unique_ptr<int> content = std::make_unique<int>(3);
    only_moved() : std::runtime_error("moved") {
    }
    only_moved(only_moved &&) = default;
};

/// The function that many programs have: which exception is being handled.
int which() {
    try {
        throw;
    } catch (const std::logic_error &) {
        return 1;
    } catch (const vow::timed_out &) {
        return 2;
    } catch (const std::exception &) {
        return 3;
    } catch (int number) {
        return number;
    }
}

template <class E> vow::promise<int> fails(E exception) {
    return vow::rejected<int>(std::move(exception));
}

} // namespace

TEST("a handler for a base has that part of the exception, also of several and virtual ones") {
    CHECK_EQ(fails(both()).recover([](const second &e) { return e.two; }).get(), 2);
    CHECK_EQ(fails(both()).recover([](second e) { return e.two; }).get(), 2);
    CHECK_EQ(fails(both()).recover([](const first &e) { return static_cast<int>(e.one); }).get(),
             1);
    CHECK_EQ(fails(diamond()).recover([](const second &e) { return e.two; }).get(), 2);
    CHECK_EQ(fails(only_moved()).recover([](const only_moved &e) { return *e.content; }).get(), 3);
}

TEST("pointers, null pointers, numbers and strings are caught as what they are") {
    static both thrown;
    CHECK_EQ(fails(&thrown).recover([](second *e) { return e->two; }).get(), 2);
    CHECK_EQ(fails(&thrown).recover([](const second *const &e) { return e->two; }).get(), 2);
    CHECK_EQ(fails("abc").recover([](const char *e) { return e[2] - 'a'; }).get(), 2);
    CHECK_EQ(fails(nullptr).recover([](int *e) { return e == nullptr ? 5 : 0; }).get(), 5);
    CHECK_EQ(fails(std::string("four"))
                 .recover([](const std::string &e) { return static_cast<int>(e.size()); })
                 .get(),
             4);
    CHECK_EQ(fails(&which).recover([](int (*e)()) { return e == &which ? 6 : 0; }).get(), 6);
    CHECK_THROWS(const char *, fails("abc").recover([](char *) { return 0; }).get());
    CHECK_THROWS(int, fails(3).recover([](long) { return 0; }).get());
}

TEST("in a handler the exception is the one that is being handled") {
    CHECK_EQ(
        fails(std::out_of_range("x")).recover([](const std::exception &) { return which(); }).get(),
        1);
    CHECK_EQ(fails(std::out_of_range("x")).recover([] { return which(); }).get(), 1);
    CHECK_EQ(fails(vow::timed_out()).recover([](std::exception_ptr) { return which(); }).get(), 2);
    CHECK_EQ(fails(own_error()).recover([](const vow::error &) { return which(); }).get(), 3);
    CHECK_EQ(fails(42).recover([](int) { return which(); }).get(), 42);
    const bool is_same = fails(std::out_of_range("x"))
                             .recover([](const std::exception &e) -> int {
                                 const auto now = std::current_exception();
                                 CHECK(std::uncaught_exceptions() == 0);
                                 try {
                                     std::rethrow_exception(now);
                                 } catch (const std::exception &again) {
                                     return &again == &e ? 1 : 0;
                                 }
                             })
                             .get() == 1;
    CHECK(is_same);
    CHECK(std::current_exception() == nullptr);
}

TEST("handlers inside of handlers have an exception each, and the outer one has its own again") {
    const auto inner = [] {
        return fails(7).recover([](int) { return which(); }, vow::inline_executor());
    };
    auto p = fails(std::logic_error("outer")).recover([&](const std::exception &) {
        const int seven = inner().get();
        return 10 * seven + which();
    });
    CHECK_EQ(p.get(), 71);
    auto q = fails(std::logic_error("outer")).recover([&](const std::exception &) -> int {
        try {
            throw std::bad_alloc();
        } catch (const std::bad_alloc &) {
            static_cast<void>(inner().get());
        }
        throw;
    });
    CHECK_THROWS(std::logic_error, q.get());
}

TEST("what a handler throws is what its promise is rejected with, nested or not") {
    CHECK_THROWS(std::bad_alloc,
                 fails(std::logic_error("x"))
                     .recover([](const std::exception &) -> int { throw std::bad_alloc(); })
                     .get());
    auto p = fails(std::logic_error("in"))
                 .recover([](const std::exception &) -> int {
                     std::throw_with_nested(std::runtime_error("out"));
                 })
                 .recover([](const std::runtime_error &e) {
                     try {
                         std::rethrow_if_nested(e);
                     } catch (const std::logic_error &) {
                         return 5;
                     }
                     return 0;
                 });
    CHECK_EQ(p.get(), 5);
}

TEST("an exception lives as long as somebody has it, and no longer") {
    {
        std::exception_ptr kept;
        auto p = vow::rejected<int>(tracked(4)).recover([&](const tracked &) {
            kept = std::current_exception();
            return 1;
        });
        CHECK_EQ(std::move(p).get(), 1);
        CHECK_EQ(tracked::alive.load(), 1);
        kept = nullptr;
    }
    CHECK(comes_true([] { return tracked::alive == 0; }));
    for (int i = 0; i < 100; i++)
        CHECK_THROWS(tracked, vow::rejected<int>(tracked(i))
                                  .recover([](const tracked &) -> int { throw; })
                                  .recover([]() -> int { throw; })
                                  .get());
    CHECK(comes_true([] { return tracked::alive == 0; }));
}

TEST("many threads handle one exception at the same time") {
    const auto p = fails(std::out_of_range("shared"));
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int j = 0; j < 200; j++)
                sum += p.recover(
                            [j](const std::exception &) -> int {
                                if (j % 2 == 0)
                                    throw;
                                return which();
                            },
                            vow::inline_executor())
                           .recover([] { return which(); }, vow::inline_executor())
                           .get();
        });
    for (auto &each : threads)
        each.join();
    CHECK_EQ(sum.load(), 800);
}

TEST("a handler may be a member, or for a type that is named") {
    CHECK_EQ(vow::rejected<std::int64_t>(own_error()).recover(&vow::error::code).get(), 7);
    CHECK_EQ(fails(std::logic_error("abc"))
                 .recover<std::exception>([](const auto &e) { return e.what()[0] - 'a'; })
                 .get(),
             0);
    CHECK_EQ(fails(vow::timed_out()).recover(vow::errc::timed_out, [](auto &&) { return 3; }).get(),
             3);
}

#if !defined(VOW_SANITIZED) && defined(__GLIBCXX__)

TEST("rejecting throws nothing, nor does what passes by or is noexcept; a clause takes one throw") {
    const auto here = vow::inline_executor();
    const auto one = [](auto &&...) noexcept { return 1; };
    const long before = throws();
    CHECK_EQ(fails(std::logic_error("x")).recover<std::exception>(one, here).get(), 1);
    CHECK_EQ(fails(vow::timed_out()).recover<vow::timed_out>(one, here).get(), 1);
    CHECK_EQ(fails(std::errc::io_error).recover<std::error_code>(one, here).get(), 1);
    CHECK_EQ(fails(4)
                 .recover([](const std::exception &) { return 0; }, here)
                 .recover([](const vow::error &) { return 0; }, here)
                 .recover([]() noexcept { return 4; }, here)
                 .get(),
             4);
    CHECK_EQ(throws() - before, 0);
    CHECK_EQ(fails(own_error()).recover([](const vow::error &) { return 2; }, here).get(), 2);
    CHECK_EQ(throws() - before, 1);
}

#endif
