// Settling.
#include "harness.hpp"

#include <stdexcept>

TEST("the first call that resolves wins") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    CHECK(r.resolve(1));
    CHECK(!r.resolve(2));
    CHECK(!r.reject(std::runtime_error("late")));
    CHECK_EQ(p.get(), 1);
}

TEST("what converts to the promise's type resolves it") {
    auto pr = vow::pending<std::string>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    CHECK(r.resolve("text"));
    CHECK_EQ(p.get(), "text");
    auto qs = vow::pending<void>();
    auto &q = qs.promise;
    auto &s = qs.resolver;
    CHECK(s.resolve());
    q.get();
    auto vt = vow::pending<std::vector<int>>();
    auto &v = vt.promise;
    auto &t = vt.resolver;
    CHECK(t.resolve({1, 2}));
    CHECK_EQ(v.get().size(), 2U);
}

TEST("resolving with a promise follows it") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    auto qs = vow::pending<int>();
    auto &q = qs.promise;
    auto &s = qs.resolver;
    CHECK(r.resolve(q));
    CHECK(!p.is_settled());
    CHECK(!r.resolve(3));
    s.resolve(7);
    CHECK_EQ(p.get(), 7);
}

TEST("a promise that follows itself is rejected") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    r.resolve(p);
    const auto error = CHECK_THROWS(vow::error, p.get());
    CHECK(error && error->is(vow::errc::cycle));
}

TEST("the last copy of a resolver that is dropped breaks the promise") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    {
        auto copy = r;
        r.reset();
        CHECK(!p.is_settled());
    }
    CHECK_THROWS(vow::broken_promise, p.get());
    CHECK(!r && !r.resolve(1));
}

TEST("a resolver travels in a lambda to another thread") {
    auto pr = vow::pending<tracked>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    std::thread([settles = std::move(r)] { settles.resolve(tracked(4)); }).join();
    CHECK_EQ(p.get().number, 4);
}

TEST("make_promise gives its function the resolver, and takes its exception") {
    CHECK_EQ(vow::make_promise<int>([](const vow::resolver<int> &r) { r.resolve(3); }).get(), 3);
    CHECK_THROWS(std::logic_error, vow::make_promise<int>([](const vow::resolver<int> &) {
                                       throw std::logic_error("no");
                                   }).get());
    CHECK_THROWS(vow::broken_promise, vow::make_promise<int>([](auto &&) {}).get());
}

TEST("a producer is told once that its promise was cancelled") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    int told = 0;
    r.on_cancel([&told, t = tracked()] { told++; });
    CHECK(p.cancel(std::string("because")));
    CHECK(!p.cancel());
    CHECK_EQ(told, 1);
    CHECK_EQ(tracked::alive.load(), 0);
    const auto error = CHECK_THROWS(vow::cancelled, p.get());
    CHECK_EQ(error->payload().as<std::string>(), "because");
    r.on_cancel([&] { told++; });
    CHECK_EQ(told, 2);
}

TEST("a producer is told that nobody is left to read, and not once it has resolved") {
    int told = 0;
    {
        auto pr = vow::pending<int>();
        auto &p = pr.promise;
        auto &r = pr.resolver;
        r.on_cancel([&] { told++; });
        p.reset();
        CHECK_EQ(told, 1);
    }
    {
        auto pr = vow::pending<int>();
        auto &r = pr.resolver;
        r.on_cancel([&told, t = tracked()] { told++; });
        r.resolve(1);
    }
    CHECK_EQ(told, 1);
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("an empty resolver refuses to watch") {
    const vow::resolver<int> empty;
    CHECK_THROWS(vow::error, empty.on_cancel([t = tracked()] {}));
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("C settles a promise of C++, and reads one") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    auto q = std::move(p).then([](int x) { return x * 2; });
    vow_resolver *native = r.release();
    vow_resolve(native, vow_int(21));
    vow_resolver_release(native);
    vow_value out;
    vow_promise *read = q.release();
    CHECK_EQ(vow_await(read, VOW_FOREVER, &out), int(VOW_FULFILLED));
    CHECK_EQ(out.as.integer, 42);
    vow_promise_release(read);
}
