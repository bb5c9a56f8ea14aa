// What C++ costs beyond C: allocations, counted.
#include "harness.hpp"

namespace {
/// What a call costs: operator new on this thread, and the library's own.
template <class Body> std::pair<long, long> cost(Body body) {
    const long ours = allocations();
    const long its = library_allocations();
    body();
    return {allocations() - ours, library_allocations() - its};
}
} // namespace

TEST("a link with a lambda that captures nothing, or a pointer, costs what a link of C costs") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    vow_promise *native = nullptr;
    const auto in_c = cost([&] {
        native = vow_then(
            vow_promise_retain(p.native()), [](vow_value, void *) { return vow_none(); }, nullptr);
    });
    int seen = 0;
    int *to = &seen;
    vow::promise<void> q, s, t;
    CHECK(cost([&] { q = p.then([](int) {}); }) == in_c);
    CHECK(cost([&] { s = p.then([&seen](int x) { seen = x; }); }) == in_c);
    CHECK(cost([&] { t = p.then([to](int x) { *to += x; }); }) == in_c);
    CHECK_EQ(in_c.first, 0);
    vow_promise_release(native);
    r.resolve(1);
}

TEST("what a lambda captures beyond a pointer costs one allocation") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    vow::promise<void> q;
    const std::string text = "a text that is longer than what a string keeps inside";
    const auto plain = cost([&] { q = p.then([](int) {}); });
    const auto two =
        cost([&, a = 1L, b = 2L] { q = p.then([a, b](int x) { static_cast<void>(a + b + x); }); });
    CHECK_EQ(two.first - plain.first, 1);
    const auto owned = cost([&] { q = p.then([kept = std::make_unique<int>(1)](int) {}); });
    CHECK_EQ(owned.first - plain.first, 2); // the int, and the lambda
    r.resolve(1);
}

TEST("recover, finally and both outcomes cost as little") {
    auto pr = vow::pending<int>();
    auto &p = pr.promise;
    auto &r = pr.resolver;
    vow::promise<int> q;
    CHECK_EQ(cost([&] { q = p.recover([](const std::exception &) { return 1; }); }).first, 0);
    CHECK_EQ(cost([&] { q = p.finally([] {}); }).first, 0);
    CHECK_EQ(cost([&] { q = p.settled([](const vow::outcome<int> &) { return 1; }); }).first, 0);
    r.resolve(1);
}

TEST("a number takes no memory, an object two pieces: its own and the library's") {
    auto pr = vow::pending<int>();
    auto &r = pr.resolver;
    CHECK_EQ(cost([&] { r.resolve(3); }).first, 0);
    auto qs = vow::pending<tracked>();
    auto &s = qs.resolver;
    const auto object = cost([&] { s.resolve(tracked(3)); });
    CHECK_EQ(object.first, 1);
    CHECK(object.second <= 1);
}
