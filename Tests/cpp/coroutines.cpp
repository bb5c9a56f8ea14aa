// co_await, and coroutines that return promises: C++20. With C++17 there are none.
#include "harness.hpp"

#include <stdexcept>

#if !defined(__cpp_impl_coroutine)

#if defined(VOW_COROUTINE_HPP)
#error "vow/coroutine.hpp is for C++20"
#endif

TEST("with C++17 the header compiles without coroutines") {
    CHECK(vow::version() == VOW_VERSION);
}

#else

namespace {

vow::promise<int> later(int number) {
    co_await vow::delay(1ms);
    co_return number;
}
vow::promise<int> sum(int a, int b) {
    const int x = co_await later(a);
    co_return x + co_await later(b);
}
vow::promise<int> throwing() {
    co_await vow::delay(1ms);
    throw std::out_of_range("from a coroutine");
}
/// Ends when its promise is cancelled; tells how.
vow::promise<void> sleeper(std::atomic<int> &state, tracked = tracked()) {
    const tracked local;
    state = 1;
    try {
        co_await vow::delay(1h);
        state = 2;
    } catch (const vow::cancelled &) {
        state = 3;
        throw;
    }
}
vow::promise<void> outer(std::atomic<int> &state) {
    const tracked local;
    co_await sleeper(state);
}
vow::promise<int> reader(vow::promise<int> from) {
    const tracked local;
    co_return co_await from;
}

} // namespace

TEST("a coroutine awaits promises and returns one") {
    CHECK_EQ(sum(1, 2).get(), 3);
    CHECK_EQ(reader(vow::fulfilled(4)).get(), 4);
}

TEST("it runs at once up to its first suspension, and goes on without one when all is settled") {
    const auto here = std::this_thread::get_id();
    auto p = [](std::thread::id caller) -> vow::promise<bool> {
        const int x = co_await vow::fulfilled(1);
        co_return x == 1 && std::this_thread::get_id() == caller;
    }(here);
    CHECK(p.is_settled());
    CHECK(p.get());
}

TEST("exceptions come out of co_await as they were thrown, and leave the coroutine as rejections") {
    CHECK_THROWS(std::out_of_range, throwing().get());
    auto p = []() -> vow::promise<std::string> {
        try {
            co_await throwing();
        } catch (const std::out_of_range &e) {
            co_return e.what();
        }
        co_return "nothing was thrown";
    }();
    CHECK_EQ(p.get(), "from a coroutine");
    auto at_once = []() -> vow::promise<void> {
        throw std::logic_error("before any suspension");
        co_return;
    }();
    CHECK_THROWS(std::logic_error, at_once.get());
}

TEST("its locals and parameters are destroyed before its promise settles") {
    auto p = [](tracked) -> vow::promise<void> {
        const tracked local;
        co_await vow::delay(1ms);
    }(tracked());
    auto q = p.then([] { return tracked::alive.load(); }, vow::inline_executor());
    CHECK_EQ(q.get(), 0);
}

TEST("it goes on where a handler that it registers would run") {
    const auto serial = vow::serial_executor("coroutines");
    auto p = [](vow::executor on) -> vow::promise<bool> {
        co_await vow::resume_on(on);
        bool good = vow::current_executor() == on;
        co_await vow::delay(1ms);
        good = good && vow::current_executor() == on;
        co_await later(1);
        co_return good &&vow::current_executor() == on;
    }(serial);
    CHECK(p.get());
}

TEST("on a loop's thread it goes on in the loop") {
    const vow::loop loop;
    const auto here = std::this_thread::get_id();
    auto p = [](std::thread::id home) -> vow::promise<bool> {
        co_await vow::delay(1ms);
        co_return std::this_thread::get_id() == home;
    }(here);
    CHECK(loop.run_until(p) == vow::state::fulfilled);
    CHECK(p.get());
}

TEST("values that can only be moved are moved out, and take() moves any") {
    auto p = []() -> vow::promise<unique> {
        auto u = co_await vow::fulfilled(unique(3));
        co_await vow::delay(1ms);
        co_return u;
    }();
    CHECK_EQ(std::move(p).get().number, 3);
    const long before = tracked::copies;
    auto q = []() -> vow::promise<int> {
        const tracked t = co_await vow::take(vow::fulfilled(tracked(4)));
        co_return t.number;
    }();
    CHECK_EQ(q.get(), 4);
    CHECK_EQ(tracked::copies - before, 0);
}

TEST("co_return of a promise follows it") {
    auto p = []() -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return later(5);
    }();
    CHECK_EQ(p.get(), 5);
}

TEST("a promise that is broken ends the coroutine that awaits it with an exception") {
    auto [p, r] = vow::pending<int>();
    auto q = reader(std::move(p));
    CHECK_EQ(tracked::alive.load(), 1);
    r.reset();
    CHECK_THROWS(vow::broken_promise, q.get());
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("cancelling its promise has co_await throw vow::cancelled, through nested coroutines") {
    std::atomic<int> state{0};
    auto p = outer(state);
    CHECK_EQ(state.load(), 1);
    CHECK(p.cancel());
    CHECK(comes_true([&] { return state == 3 && tracked::alive == 0; }));
    CHECK_THROWS(vow::cancelled, p.get());
}

TEST("a coroutine whose promise nobody reads any more is cancelled as well") {
    std::atomic<int> state{0};
    sleeper(state).reset();
    CHECK(comes_true([&] { return state == 3 && tracked::alive == 0; }));
}

TEST("detach lets it run to its end") {
    std::atomic<bool> ran{false};
    [](std::atomic<bool> &over) -> vow::promise<void> {
        co_await vow::delay(2ms);
        over = true;
    }(ran)
                                       .detach();
    CHECK(comes_true([&] { return ran.load(); }));
}

TEST("a cancelled coroutine goes on with its exception on its own executor") {
    const auto serial = vow::serial_executor();
    std::atomic<int> where{0};
    auto p = [](vow::executor on, std::atomic<int> &seen) -> vow::promise<void> {
        co_await vow::resume_on(on);
        try {
            seen = 1;
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
            seen = vow::current_executor() == on ? 2 : 3;
        }
    }(serial, where);
    CHECK(comes_true([&] { return where == 1; }));
    p.cancel();
    CHECK(comes_true([&] { return where == 2; }));
}

TEST("one that is busy hears of it by stop_requested, and at its next co_await") {
    std::atomic<int> state{0};
    auto p = [](std::atomic<int> &seen) -> vow::promise<void> {
        co_await vow::resume_on(vow::pool_executor());
        seen = 1;
        while (!co_await vow::stop_requested())
            std::this_thread::sleep_for(1ms);
        try {
            co_await vow::delay(1h);
        } catch (const vow::cancelled &) {
            seen = 2;
        }
    }(state);
    CHECK(comes_true([&] { return state == 1; }));
    p.cancel();
    CHECK(comes_true([&] { return state == 2; }));
}

TEST("what a coroutine awaits and others read too is not cancelled with it") {
    auto [p, r] = vow::pending<int>();
    auto q = reader(p);
    q.cancel();
    CHECK(comes_true([] { return tracked::alive == 0; }));
    CHECK(!p.is_settled());
    r.resolve(1);
    CHECK_EQ(p.get(), 1);
}

TEST("a coroutine that no executor can resume any more is destroyed, and its promise rejected") {
    vow::promise<int> q;
    auto [p, r] = vow::pending<int>();
    {
        const vow::loop loop;
        q = reader(p);
        CHECK_EQ(tracked::alive.load(), 1);
    }
    r.resolve(1);
    CHECK_EQ(tracked::alive.load(), 0);
    const auto error = CHECK_THROWS(vow::error, q.get());
    CHECK(error && error->is(vow::errc::shut_down));
}

TEST("a coroutine that is cancelled after its loop has ended is destroyed") {
    auto [p, r] = vow::pending<int>();
    vow::promise<int> q;
    {
        const vow::loop loop;
        q = reader(p);
    }
    q.cancel();
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("it carries the context along") {
    const vow::context::scoped request(7);
    auto p = []() -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_await later(1);
        co_return vow::context::get<int>().value_or(0);
    }();
    CHECK_EQ(p.get(), 7);
}

TEST("a hundred thousand awaits in a loop need no stack and no memory") {
    auto p = []() -> vow::promise<long> {
        long total = 0;
        const auto before = vow::statistics().bytes;
        for (int i = 0; i < 100000; i++) {
            if (i % 2 == 0)
                co_await vow::resume_on(vow::inline_executor());
            total += co_await vow::fulfilled(1);
        }
        CHECK(vow::statistics().bytes < before + 10000);
        co_return total;
    }();
    CHECK_EQ(p.get(), 100000);
}

TEST("recursion through coroutines is as deep as memory") {
    struct deep {
        static vow::promise<int> dive(int depth) {
            if (depth == 0)
                co_return 0;
            co_await vow::resume_on(vow::pool_executor());
            co_return 1 + co_await dive(depth - 1);
        }
    };
    CHECK_EQ(deep::dive(2000).get(), 2000);
}

TEST("cancelling races with resuming, and every frame is freed") {
    for (int i = 0; i < 500; i++) {
        auto [p, r] = vow::pending<int>();
        auto q = reader(std::move(p));
        std::thread resolving([settles = std::move(r)] { settles.resolve(1); });
        q.cancel();
        resolving.join();
        q.wait();
    }
    CHECK(comes_true([] { return tracked::alive == 0; }));
}

namespace {
/// A coroutine type of another library, which awaits our promises.
struct foreign {
    struct promise_type {
        foreign get_return_object() {
            return {};
        }
        std::suspend_never initial_suspend() noexcept {
            return {};
        }
        std::suspend_never final_suspend() noexcept {
            return {};
        }
        void return_void() {
        }
        void unhandled_exception() {
            std::terminate();
        }
    };
};
foreign awaits(vow::promise<int> p, std::atomic<int> &seen) {
    const tracked local;
    try {
        seen = co_await std::move(p);
    } catch (const vow::error &e) {
        seen = int(e.code());
    }
}
} // namespace

TEST("coroutines of other libraries await promises as well") {
    std::atomic<int> seen{0};
    awaits(later(6), seen);
    CHECK(comes_true([&] { return seen == 6 && tracked::alive == 0; }));
    auto [p, r] = vow::pending<int>();
    {
        const vow::loop loop;
        awaits(std::move(p), seen);
    }
    r.resolve(1);
    CHECK(comes_true([&] { return seen == VOW_ESHUTDOWN && tracked::alive == 0; }));
}

TEST("an await costs one link, and no operator new after the first") {
    auto p = []() -> vow::promise<std::pair<long, long>> {
        co_await vow::resume_on(vow::inline_executor());
        auto [q, r] = vow::pending<int>();
        const auto on = vow::inline_executor();
        auto resolves = [](vow::resolver<int> settles) { settles.resolve(1); };
        const long ours = allocations();
        const long its = library_allocations();
        co_await vow::resume_on(on);
        const std::pair<long, long> spent(allocations() - ours, library_allocations() - its);
        resolves(r);
        co_return spent;
    }();
    const auto [ours, its] = p.get();
    CHECK_EQ(ours, 0);
    CHECK(its <= 2);
}

#endif
