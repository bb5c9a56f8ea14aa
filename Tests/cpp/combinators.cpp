// Many promises as one.
#include "harness.hpp"

#include <stdexcept>

namespace {
std::vector<vow::promise<int>> three() {
    return {vow::fulfilled(1), vow::delay(1ms).then([] { return 2; }), vow::fulfilled(3)};
}
vow::promise<int> failing(int number) {
    return vow::rejected<int>(std::out_of_range(std::to_string(number)));
}
} // namespace

TEST("all of a vector is a vector, in the order of the promises") {
    CHECK(vow::all(three()).get() == std::vector<int>{1, 2, 3});
    CHECK(vow::all(std::vector<vow::promise<int>>{}).get().empty());
    vow::all(std::vector<vow::promise<void>>{vow::fulfilled(), vow::delay(1ms)}).get();
    auto sum = vow::all(three()).then([](const std::vector<int> &v) { return v[0] + v[1] + v[2]; });
    CHECK_EQ(sum.get(), 6);
}

TEST("all of different types is a tuple, whose items a handler may take") {
    auto p = vow::all(vow::fulfilled(1), vow::fulfilled(std::string("x")), vow::delay(1ms));
    static_assert(
        std::is_same_v<decltype(p)::value_type, std::tuple<int, std::string, std::monostate>>);
    CHECK_EQ(std::get<1>(p.get()), "x");
    CHECK_EQ(p.then([](int n, const std::string &s, auto) { return s + std::to_string(n); }).get(),
             "x1");
    CHECK_EQ(p.then([](const auto &t) { return std::get<0>(t); }).get(), 1);
}

TEST("all moves what can only be moved out of its members") {
    std::vector<vow::promise<unique>> several;
    several.push_back(vow::fulfilled(unique(4)));
    CHECK_EQ(vow::all(std::move(several)).get().at(0).number, 4);
    auto [u, n] = vow::all(vow::fulfilled(unique(5)), vow::fulfilled(6)).get();
    CHECK_EQ(u.number + n, 11);
}

TEST("the first rejection rejects all, says its place where it is a vow::error, and cancels the "
     "rest") {
    auto [p, r] = vow::pending<int>();
    bool told = false;
    r.on_cancel([&] { told = true; });
    auto both = vow::all(std::move(p), vow::rejected<int>(vow::error("own", 1, "no")));
    const auto error = CHECK_THROWS(vow::error, both.get());
    CHECK(error && error->index() == std::size_t(1));
    CHECK(told);
}

TEST("all_settled gives what became of each") {
    auto outcomes = vow::all_settled(std::vector<vow::promise<int>>{vow::fulfilled(1), failing(2)});
    CHECK_EQ(outcomes.get()[0].get(), 1);
    CHECK_THROWS(std::out_of_range, outcomes.get()[1].get());
    auto [n, nothing] = vow::all_settled(vow::fulfilled(2), vow::rejected<void>(1)).get();
    CHECK(n && !nothing);
    CHECK_EQ(outcomes.then([](const auto &v) { return v.size(); }).get(), 2U);
}

TEST("any is the first value, or all errors") {
    CHECK_EQ(vow::any(failing(1), vow::fulfilled(2)).get(), 2);
    CHECK_EQ(vow::any(three()).get(), 1);
    const auto error = CHECK_THROWS(vow::aggregate_error, vow::any(failing(1), failing(2)).get());
    const auto errors = error->errors();
    CHECK_EQ(errors.size(), 2U);
    CHECK_THROWS(std::out_of_range, std::rethrow_exception(errors.at(1)));
}

TEST("some are the first values, as many as wanted") {
    CHECK(vow::some(three(), 2).get() == (std::vector<int>{1, 3}));
    CHECK_THROWS(vow::aggregate_error,
                 vow::some(std::vector<vow::promise<int>>{failing(1)}, 1).get());
}

TEST("race settles as the first one to settle does") {
    CHECK_EQ(vow::race(vow::delay(1h).then([] { return 1; }), vow::fulfilled(2)).get(), 2);
    CHECK_THROWS(std::out_of_range, vow::race(failing(1), vow::fulfilled(2)).get());
    CHECK_THROWS(vow::error, vow::race(std::vector<vow::promise<int>>{}).get());
}

TEST("map calls its function with each item, and not too many at once") {
    std::atomic<int> now{0}, most{0};
    auto doubled = vow::map(
        std::vector<int>{1, 2, 3, 4, 5, 6},
        [&, t = tracked()](int x) {
            const int running = ++now;
            int before = most;
            while (before < running && !most.compare_exchange_weak(before, running)) {
            }
            return vow::delay(1ms).then([&, x] { return now--, x * 2; });
        },
        2);
    CHECK(doubled.get() == (std::vector<int>{2, 4, 6, 8, 10, 12}));
    CHECK(most <= 2);
    vow::map(std::vector<std::string>{"a"}, [](const std::string &) {}).get();
    CHECK_THROWS(std::logic_error, vow::map(std::vector<int>{1, 2}, [](int) -> int {
                                       throw std::logic_error("no");
                                   }).get());
    std::vector<unique> several;
    several.emplace_back(5);
    CHECK_EQ(vow::map(std::move(several), [](unique u) { return u.number; }).get().at(0), 5);
}

TEST("reduce folds values in order") {
    std::vector<vow::promise<std::string>> letters;
    for (const char *each : {"a", "b", "c"})
        letters.push_back(vow::fulfilled(std::string(each)));
    CHECK_EQ(vow::reduce(letters, std::string(">"),
                         [t = tracked()](const std::string &sum, const std::string &each) {
                             return vow::fulfilled(sum + each);
                         })
                 .get(),
             ">abc");
    CHECK_EQ(
        vow::reduce(three(), unique(1), [](unique sum, int x) { return unique(sum.number + x); })
            .get()
            .number,
        7);
    CHECK_THROWS(std::out_of_range,
                 vow::reduce(std::vector<vow::promise<int>>{failing(1)}, 0, [](int a, int b) {
                     return a + b;
                 }).get());
}

TEST("repeat is a loop in constant memory") {
    const auto before = vow::statistics().bytes;
    auto p = vow::repeat(
        0, [](int i) { return i < 100000; },
        [before](int i) {
            if (i % 1000 == 0)
                CHECK(vow::statistics().bytes < before + 10000);
            return i + 1;
        });
    CHECK_EQ(p.get(), 100000);
    CHECK_THROWS(std::logic_error, vow::repeat(
                                       0, [](int) -> bool { throw std::logic_error("asked"); },
                                       [](int i) { return i; })
                                       .get());
    CHECK_THROWS(std::runtime_error, vow::repeat(
                                         0, [](int) { return true; },
                                         [t = tracked()](int) -> vow::promise<int> {
                                             throw std::runtime_error("stepped");
                                         })
                                         .get());
}

TEST("the functions of a repetition live until it is over, also when it is cancelled") {
    auto p = vow::repeat(
        0, [t = tracked()](int) { return true; },
        [t = tracked()](int i) { return vow::delay(1ms).then([i] { return i; }); });
    std::this_thread::sleep_for(5ms);
    CHECK_EQ(tracked::alive.load(), 2);
    p.cancel();
    CHECK(comes_true([] { return tracked::alive == 0; }));
    for (int i = 0; i < 200; i++) {
        auto q =
            vow::map(std::vector<int>{1, 2, 3}, [t = tracked()](int x) { return x + t.number; });
        q.cancel();
    }
    CHECK(comes_true([] { return tracked::alive == 0; }));
}
