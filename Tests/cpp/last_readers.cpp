// Who reads last, and gives the handle away, has the very object.
#include "harness.hpp"

#include <list>

namespace {

template <class Body> long copies_of(Body body) {
    const long before = tracked::copies;
    body();
    return tracked::copies - before;
}

} // namespace

TEST("get of the last handle moves, also out of lists and tuples") {
    const auto here = vow::inline_executor();
    CHECK_EQ(copies_of([] { CHECK_EQ(vow::fulfilled(tracked(3)).get().number, 3); }), 0);
    CHECK_EQ(copies_of([] { CHECK_EQ(vow::fulfilled(tracked(3)).get(1s).number, 3); }), 0);
    CHECK_EQ(copies_of([&] {
                 auto p = vow::fulfilled(4).then([](int n) { return tracked(n); }, here);
                 CHECK_EQ(std::move(p).get().number, 4);
             }),
             0);
    CHECK_EQ(copies_of([] {
                 auto p = vow::all(vow::fulfilled(tracked(1)), vow::fulfilled(tracked(2)));
                 const auto [one, two] = std::move(p).get();
                 CHECK(one.number == 1 && two.number == 2);
             }),
             0);
    CHECK_EQ(copies_of([] {
                 std::list<vow::promise<tracked>> many;
                 many.push_back(vow::fulfilled(tracked(1)));
                 many.push_back(vow::fulfilled(tracked(2)));
                 CHECK_EQ(vow::all(std::move(many)).get().at(1).number, 2);
             }),
             0);
}

TEST("who has another handle, or another reader's value, keeps what it reads") {
    const auto p = vow::fulfilled(tracked(3));
    auto q = p;
    CHECK_EQ(copies_of([&] { CHECK_EQ(std::move(q).get().number, 3); }), 1);
    CHECK_EQ(p.get().number, 3);
    const vow::outcome<tracked> kept = *p.peek();
    auto r = p.finally([] {});
    CHECK_EQ(std::move(r).get().number, 3);
    CHECK_EQ(kept.get().number, 3);
    std::vector<vow::promise<tracked>> many(3, p);
    for (const tracked &each : vow::all(std::move(many)).get())
        CHECK_EQ(each.number, 3);
    CHECK_EQ(p.get().number, 3);
}

TEST("last readers of one promise on several threads all have the value") {
    for (int round = 0; round < 500; round++) {
        auto p = vow::fulfilled(std::string(200, 'x') + std::to_string(round));
        auto q = p.then([](const std::string &s) { return std::make_pair(s, tracked(1)); },
                        vow::inline_executor());
        p.reset();
        std::vector<std::thread> threads;
        std::atomic<int> right{0};
        for (int i = 0; i < 3; i++)
            threads.emplace_back([copy = q, &right]() mutable {
                right += std::move(copy).get().first.size() > 200;
            });
        right += std::move(q).get().first.size() > 200;
        for (auto &each : threads)
            each.join();
        CHECK_EQ(right.load(), 4);
    }
}

#if defined(__cpp_impl_coroutine)

TEST("a coroutine that awaits the last handle of what is there moves") {
    CHECK_EQ(copies_of([] {
                 auto reads = []() -> vow::promise<int> {
                     const tracked one = co_await vow::fulfilled(tracked(3));
                     co_return one.number;
                 };
                 CHECK_EQ(reads().get(), 3);
             }),
             0);
    auto twice = []() -> vow::promise<int> {
        auto p = vow::fulfilled(tracked(3));
        const tracked one = co_await p;
        const tracked two = co_await std::move(p);
        co_return one.number + two.number;
    };
    CHECK_EQ(copies_of([&] { CHECK_EQ(twice().get(), 6); }), 1);
    auto later = []() -> vow::promise<int> {
        const tracked one = co_await vow::delay(1ms).then([] { return tracked(3); });
        co_return one.number;
    };
    CHECK_EQ(later().get(), 3);
}

#endif
