// then, recover, settled, finally; handles.
#include "harness.hpp"

#include <stdexcept>

TEST("then takes the value or nothing, and returns a value, a promise or nothing") {
    const auto one = vow::fulfilled(1);
    const auto twice = [](int x) { return 2 * x; };
    const auto nothing = [](int) {};
    const auto promising = [] { return vow::fulfilled(1.5); };
    static_assert(std::is_same_v<decltype(one.then(twice)), vow::promise<int>>);
    static_assert(std::is_same_v<decltype(one.then(nothing)), vow::promise<void>>);
    static_assert(std::is_same_v<decltype(one.then(promising)), vow::promise<double>>);
    CHECK_EQ(one.then(twice).get(), 2);
    one.then(nothing).get();
    CHECK_EQ(one.then(promising).get(), 1.5);
    CHECK_EQ(one.then([](int x) { return x + 1; }).get(), 2);
    CHECK_EQ(one.then([] { return std::string("y"); }).get(), "y");
    CHECK_EQ(one.then([](int x) { return vow::fulfilled(x + 2); }).get(), 3);
    CHECK_EQ(vow::fulfilled().then([] { return 4; }).get(), 4);
    bool ran = false;
    one.then([&](auto &&) { ran = true; }).get();
    CHECK(ran);
}

TEST("a rejection passes through then, a value through recover") {
    bool ran = false;
    auto p = vow::rejected<int>(std::runtime_error("no")).then([&](int) {
        ran = true;
        return 1;
    });
    CHECK_THROWS(std::runtime_error, p.get());
    CHECK_EQ(vow::fulfilled(3).recover([&] { return ran = true, 4; }).get(), 3);
    CHECK(!ran);
}

TEST("an lvalue keeps its handle, an rvalue gives it away") {
    auto p = vow::fulfilled(1);
    auto q = p.then([](int x) { return x; });
    CHECK(p);
    auto r = std::move(p).then([](int x) { return x; });
    CHECK(!p);
    CHECK_EQ(q.get() + r.get(), 2);
}

TEST("copies read the same promise, and moving leaves an empty handle") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    auto copy = p;
    CHECK(copy == p);
    auto moved = std::move(copy);
    CHECK(!copy && moved == p);
    copy = moved;
    const auto &itself = copy;
    copy = itself;
    CHECK(copy == p);
    r.resolve(1);
    CHECK_EQ(copy.get() + moved.get(), 2);
}

TEST("an empty promise is a wrong argument, not a crash") {
    const vow::promise<int> empty;
    CHECK(!empty);
    const auto error = CHECK_THROWS(vow::error, empty.get());
    CHECK(error && error->is(vow::errc::invalid_argument));
    CHECK_THROWS(vow::error, empty.then([](int x) { return x; }).get());
    CHECK_THROWS(vow::error, vow::async([] { return vow::promise<int>(); }).get());
}

TEST("a handler's captures can only be moved, and are destroyed once") {
    auto kept = std::make_unique<tracked>(3);
    auto p = vow::fulfilled(1).then(
        [kept = std::move(kept)](int x) mutable { return x + std::exchange(kept->number, 0); });
    CHECK_EQ(p.get(), 4);
    CHECK(comes_true([] { return tracked::alive == 0; }));
}

TEST("a handler that never runs is destroyed all the same") {
    {
        auto pr = vow::pending<int>();
        auto &p = pr.promise;
        auto q = p.then([t = tracked()](int) {}).recover([t = tracked()] {});
        CHECK_EQ(tracked::alive.load(), 2);
        CHECK(q.cancel());
        // The clause for errors runs, elsewhere; when its promise is settled, both are gone.
        CHECK_THROWS(vow::cancelled, q.get());
        CHECK_EQ(tracked::alive.load(), 0);
    }
    vow::rejected<int>(1).then([t = tracked()](int) {}).recover([] {}).get();
    CHECK(comes_true([] { return tracked::alive == 0; }));
}

TEST("recover reads like a catch clause: the parameter's type says for which exceptions") {
    const auto p = vow::rejected<int>(std::out_of_range("far"));
    CHECK_EQ(
        p.recover([](const std::runtime_error &) { return 1; })
            .recover([](const std::logic_error &e) { return int(std::string(e.what()).size()); })
            .get(),
        3);
    CHECK_EQ(p.recover<std::out_of_range>([] { return 5; }).get(), 5);
    CHECK_EQ(p.recover<std::exception>([](auto &&) { return 6; }).get(), 6);
    CHECK_EQ(p.recover([](std::exception_ptr e) { return e ? 7 : 0; }).get(), 7);
    CHECK_EQ(p.recover([] { return vow::fulfilled(8); }).get(), 8);
    CHECK_THROWS(std::out_of_range, p.recover([](int) { return 1; }).get());
    CHECK_EQ(vow::rejected<int>(9).recover([](int thrown) { return thrown; }).get(), 9);
}

TEST("recover goes by the code of a C error") {
    const auto http = vow::promise<int>::adopt(vow_promise_with(vow_error("http", 404, "none")));
    CHECK_EQ(http.recover("http", 500, [] { return 1; })
                 .recover("http", 404, [](const vow::error &e) { return int(e.code()); })
                 .get(),
             404);
    CHECK_EQ(http.recover("http", VOW_ANY_CODE, [] { return 2; }).get(), 2);
    CHECK_EQ(
        http.recover([](const vow::error &e) { return e.domain() == std::string("http"); }).get(),
        1);
    auto broken = vow::pending<int>().promise;
    CHECK_EQ(broken.recover(vow::errc::timed_out, [] { return 1; })
                 .recover(vow::errc::broken_promise, [] { return 2; })
                 .get(),
             2);
}

TEST("what recover throws rejects again") {
    auto p =
        vow::rejected<int>(std::runtime_error("no")).recover([](const std::exception &) -> int {
            throw std::logic_error("worse");
        });
    CHECK_THROWS(std::logic_error, p.get());
}

TEST("settled is called in either case, with the outcome") {
    const auto has_value = [](const vow::outcome<int> &o) { return o.has_value(); };
    CHECK(vow::fulfilled(1).settled(has_value).get());
    CHECK(!vow::rejected<int>(std::runtime_error("no")).settled(has_value).get());
    CHECK_EQ(vow::fulfilled(unique(3)).settled([](auto o) { return o.take().number; }).get(), 3);
}

TEST("finally runs in either case and passes the outcome on") {
    int runs = 0;
    CHECK_EQ(vow::fulfilled(1).finally([&] { runs++; }).get(), 1);
    CHECK_THROWS(std::runtime_error,
                 vow::rejected<int>(std::runtime_error("no")).finally([&] { runs++; }).get());
    CHECK_EQ(runs, 2);
    CHECK_THROWS(std::logic_error,
                 vow::fulfilled(1).finally([] { throw std::logic_error("in finally"); }).get());
    CHECK_THROWS(std::logic_error,
                 vow::fulfilled(1)
                     .finally([] { return vow::rejected<void>(std::logic_error("later")); })
                     .get());
    CHECK_EQ(vow::fulfilled(2).finally([] { return vow::delay(1ms); }).get(), 2);
    CHECK_EQ(vow::fulfilled(3).finally([] { return 9; }).get(), 3);
}

TEST("a chain of a hundred thousand links is built, run and freed") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    for (int i = 0; i < 100000; i++)
        p = std::move(p).then([](int x) { return x + 1; }, vow::inline_executor());
    r.resolve(0);
    CHECK_EQ(p.get(), 100000);
}

TEST("peek and state look without waiting") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    CHECK(!p.peek() && p.state() == vow::state::pending && !p.is_settled());
    r.resolve(3);
    CHECK(p.state() == vow::state::fulfilled);
    CHECK_EQ(p.peek()->get(), 3);
    const auto no = vow::rejected<int>(std::runtime_error("no"));
    CHECK(no.peek()->exception() != nullptr);
    CHECK_THROWS(std::runtime_error, no.peek()->get());
}

TEST("get gives up after its time, and leaves the promise alone") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    CHECK_THROWS(vow::timed_out, p.get(1ms));
    CHECK(p.wait_for(0ms) == vow::state::pending);
    CHECK(p.wait_for(-5s) == vow::state::pending);
    r.resolve(3);
    CHECK_EQ(p.get(1h), 3);
    CHECK(p.wait() == vow::state::fulfilled);
}

TEST("detach lets a chain run to its end") {
    std::atomic<bool> ran{false};
    vow::delay(1ms).then([&] { ran = true; }).detach();
    CHECK(comes_true([&] { return ran.load(); }));
    ran = false;
    vow::delay(1ms).finally([&] { ran = true; }).detach();
    CHECK(comes_true([&] { return ran.load(); }));
}

TEST("labels and tokens are said by options") {
    vow::options where;
    where.label = "adds";
    where.executor = vow::inline_executor();
    CHECK_EQ(vow::fulfilled(1).then([](int x) { return x + 1; }, where).get(), 2);
    const auto here = [runs = std::this_thread::get_id()] {
        return std::this_thread::get_id() == runs ? 3 : 4;
    };
    CHECK_EQ(vow::rejected<int>(vow::timed_out()).recover(vow::errc::timed_out, here, where).get(),
             3);
    CHECK_EQ(vow::rejected<int>(vow::error("own", 7, "no")).recover("own", 7, here, where).get(),
             3);
#if __cplusplus >= 202002L
    const vow::cancel_source source;
    source.cancel();
    CHECK_THROWS(
        vow::cancelled,
        vow::fulfilled(1).then([](int) {}, {.token = source.token(), .label = "never"}).get());
#endif
}
