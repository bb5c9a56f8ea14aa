// Cancelling promises, tokens, scopes.
#include "harness.hpp"

#include <stdexcept>

TEST("cancelling goes upstream to the producer") {
    auto [p, r] = vow::pending<int>();
    bool told = false;
    r.on_cancel([&] { told = true; });
    auto q = std::move(p).then([](int x) { return x; }).finally([] {});
    CHECK(q.cancel());
    CHECK(told);
    CHECK_THROWS(vow::cancelled, q.get());
}

TEST("a promise that somebody else reads is not cancelled") {
    auto [p, r] = vow::pending<int>();
    auto q = p.then([](int x) { return x; });
    CHECK(q.cancel());
    CHECK(!p.is_settled());
    r.resolve(1);
    CHECK_EQ(p.get(), 1);
}

TEST("a source cancels every handler that has its token, and leaves the others alone") {
    const vow::cancel_source source;
    auto [p, r] = vow::pending<int>();
    vow::options until;
    until.token = source.token();
    auto a = p.then([t = tracked()](int) {}, until);
    auto b = p.then([](int x) { return x; });
    CHECK(!until.token.is_cancelled());
    until.token.throw_if_cancelled();
    CHECK(source.cancel(std::string("over")));
    CHECK(!source.cancel());
    CHECK_EQ(CHECK_THROWS(vow::cancelled, a.get())->payload().as<std::string>(), "over");
    CHECK_EQ(until.token.reason().as<std::string>(), "over");
    CHECK_THROWS(vow::cancelled, until.token.throw_if_cancelled());
    r.resolve(1);
    CHECK_EQ(b.get(), 1);
}

TEST("a linked source is cancelled by its parents, and tokens tell") {
    const vow::cancel_source parent;
    const auto child = vow::cancel_source::linked({parent.token(), vow::token()});
    int told = 0;
    child.token().on_cancel([&told, t = tracked()] { told++; });
    parent.cancel();
    CHECK(child.token().is_cancelled());
    CHECK_EQ(told, 1);
    CHECK(!vow::token().is_cancelled());
    CHECK_THROWS(vow::error, vow::token().on_cancel([] {}));
}

TEST("a scope waits for its members") {
    vow::scope scope;
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; i++)
        CHECK(scope.add(vow::delay(1ms).then([&] { ran++; })));
    std::move(scope).close().get();
    CHECK_EQ(ran.load(), 3);
    vow::scope failing;
    failing.add(vow::rejected<int>(std::logic_error("no")));
    CHECK_THROWS(std::logic_error, std::move(failing).close().get());
}

TEST("a scope that is dropped cancels its members, and a closed one takes no more") {
    auto late = vow::delay(1h);
    {
        vow::scope scope;
        scope.add(late);
        scope.cancel();
        CHECK(!scope.add(vow::delay(1h)));
    }
    late.cancel();
    vow::promise<void> inside;
    {
        vow::scope scope;
        scope.add(vow::delay(1h).finally([t = tracked()] {}));
    }
    vow::scope closed;
    std::move(closed).close().get();
    CHECK_THROWS(vow::error, closed.add(vow::fulfilled()));
    closed.cancel();
}
