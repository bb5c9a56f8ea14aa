// What joins many promises, without coroutines: values, order, errors.
#include "harness.hpp"

#include <stdexcept>
#include <vector>

TEST(
    "when_all has all values in order, of one type or of several, also of what can only be moved") {
    std::vector<vow::promise<int>> numbers;
    for (int i = 0; i < 5; i++)
        numbers.push_back(vow::delay(std::chrono::milliseconds(5 - i)).then([i] { return i; }));
    CHECK(vow::when_all(std::move(numbers)).get() == std::vector<int>({0, 1, 2, 3, 4}));
    auto both = vow::when_all(vow::fulfilled(std::string("a")), vow::fulfilled(unique(3)),
                              vow::fulfilled());
    const auto values = std::move(both).get();
    CHECK_EQ(std::get<0>(values), "a");
    CHECK_EQ(std::get<1>(values).number, 3);
    CHECK(vow::when_all(std::vector<vow::promise<int>>()).get().empty());
    vow::when_all(std::vector<vow::promise<void>>(3, vow::fulfilled())).get();
}

TEST("when_all is rejected with the first exception, also if it was there at the beginning") {
    auto ends = vow::pending<int>();
    auto &never = ends.promise;
    auto p = vow::when_all(never, vow::rejected<int>(std::logic_error("first")),
                           vow::rejected<int>(std::runtime_error("second")), never);
    CHECK_THROWS(std::logic_error, p.get());
    CHECK_THROWS(vow::cancelled, never.get());
}

TEST("a member that somebody cancels cancels the others") {
    auto a = vow::pending<int>();
    auto b = vow::pending<int>();
    auto p = vow::when_all(a.promise, b.promise);
    CHECK(a.promise.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK_THROWS(vow::cancelled, b.promise.get());
}

TEST("when_any has the first value, or all exceptions") {
    auto ends = vow::pending<int>();
    auto &never = ends.promise;
    auto p = vow::when_any(never, vow::rejected<int>(std::logic_error("no")), vow::fulfilled(3));
    CHECK_EQ(p.get(), 3);
    CHECK_THROWS(vow::cancelled, never.get());
    auto q = vow::when_any(vow::rejected<int>(std::logic_error("a")),
                           vow::rejected<int>(std::runtime_error("b")));
    const auto error = CHECK_THROWS(vow::aggregate_error, q.get());
    CHECK(error && error->errors().size() == 2);
    CHECK_THROWS(vow::aggregate_error, vow::when_any(std::vector<vow::promise<int>>()).get());
}

TEST("a time-out passes on what is in time") {
    CHECK_EQ(vow::timeout(vow::fulfilled(1), 1h).get(), 1);
    CHECK_EQ(vow::timeout(vow::fulfilled(1), std::chrono::hours::max()).get(), 1);
    CHECK_THROWS(std::logic_error,
                 vow::timeout(vow::rejected<int>(std::logic_error("no")), 1h).get());
    CHECK_THROWS(vow::timed_out, vow::timeout(vow::delay(1h), 0s).get());
    auto cancelled = vow::delay(1h);
    auto p = vow::timeout(cancelled, 1h);
    CHECK(cancelled.cancel());
    CHECK_THROWS(vow::cancelled, p.get());
}

TEST("what joins refuses an empty handle, and cancels the others") {
    auto ends = vow::pending<int>();
    auto &never = ends.promise;
    CHECK_THROWS(vow::error, vow::when_all(never, vow::promise<int>()).get());
    CHECK_THROWS(vow::cancelled, never.get());
    CHECK_THROWS(vow::error, vow::when_any(vow::promise<int>()).get());
    CHECK_THROWS(vow::error, vow::timeout(vow::promise<int>(), 1h).get());
}

TEST("with_scope ends with its members, and fails as one of them does") {
    std::atomic<int> ended{0};
    auto p = vow::with_scope([&](vow::scope &scope) {
        for (int i = 0; i < 3; i++)
            scope.add(vow::delay(1ms).then([&] { ended++; }));
        return 7;
    });
    CHECK_EQ(p.get(), 7);
    CHECK_EQ(ended.load(), 3);
    vow::scope_options options;
    options.fail_fast = true;
    auto q = vow::with_scope(options, [](vow::scope &scope) {
        scope.add(vow::rejected<int>(std::logic_error("a member")));
        return vow::delay(1h);
    });
    CHECK_THROWS(std::logic_error, q.get());
}

TEST("a shared scope's end waits for nobody, and its owner's cancels") {
    auto ends = vow::pending<int>();
    auto &never = ends.promise;
    {
        vow::scope scope;
        CHECK(scope.add(never));
        { const vow::scope shared = scope.share(); }
        CHECK(!never.is_settled());
        const vow::scope outliving = scope.share();
        vow::scope moved = std::move(scope);
    }
    CHECK_THROWS(vow::cancelled, never.get());
}
