// Scopes: what they are made with, who shares them, work that begins as a member.
#include "harness.hpp"

#include <stdexcept>

TEST("the first failure of a scope that fails fast cancels the others, and the end comes last") {
    vow::scope_options options;
    options.fail_fast = true;
    vow::scope scope(options);
    auto slow = scope.async([] { return vow::delay(1h).then([] { return 1; }); });
    auto bad = scope.async(vow::pool_executor(), []() -> int { throw std::logic_error("no"); });
    CHECK_THROWS(std::logic_error, std::move(scope).close().get());
    CHECK_THROWS(vow::cancelled, slow.get());
    CHECK_THROWS(std::logic_error, bad.get());
}

TEST("a deadline cancels the members, and is taken over by what they make") {
    vow::scope_options options;
    options.deadline = 20ms;
    options.grace = 1h;
    options.label = "requests";
    vow::scope scope(options);
    auto work = scope.async([] { return vow::delay(1h); });
    auto never = vow::pending<int>();
    CHECK(scope.add(never.promise));
    CHECK_THROWS(vow::timed_out, std::move(scope).close().get());
    CHECK_THROWS(vow::cancelled, never.promise.get());
    CHECK(work.is_settled());
}

TEST("wrong options are what the end is rejected with") {
    vow::scope_options options;
    options.deadline = -1s;
    CHECK_THROWS(vow::error, vow::scope(options).close().get());
}

TEST("who shares a scope adds to it after it was closed, until it has ended") {
    auto [first, resolve_first] = vow::pending<int>();
    auto [late, resolve_late] = vow::pending<int>();
    vow::scope scope;
    vow::scope shared = scope.share();
    CHECK(scope.add(first));
    auto end = std::move(scope).close();
    CHECK(shared.add(late));
    resolve_first.resolve(1);
    CHECK(!end.is_settled());
    resolve_late.resolve(1);
    end.get();
    CHECK_THROWS(vow::error, shared.add(vow::delay(1h)));
}

TEST("what a function of a scope captures is gone before the end, whether it was called or not") {
    vow::scope scope;
    auto called = scope.async([t = tracked()] { return 1; });
    CHECK_EQ(called.get(), 1);
    scope.cancel();
    auto refused = scope.async([t = tracked()] { return 1; });
    CHECK_THROWS(vow::cancelled, refused.get());
    std::move(scope).close().get();
}
