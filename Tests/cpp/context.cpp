// What travels along a chain.
#include "harness.hpp"

TEST("each handler gets the context that was set where it was registered") {
    const vow::context::scoped request(std::string("request 7"));
    auto p = vow::async([] { return vow::context::get<std::string>(); });
    CHECK_EQ(p.get().value_or("none"), "request 7");
    CHECK(!vow::context::get<int>());
}

TEST("a scoped context gives way to the one before") {
    vow::context::set(1);
    {
        const vow::context::scoped inner(tracked(2));
        CHECK_EQ(vow::context::get<tracked>()->number, 2);
    }
    CHECK_EQ(vow::context::get<int>().value_or(0), 1);
    vow::context::clear();
    CHECK(vow::context::current().is_none());
}

TEST("map, reduce, repeat and retry run with the context of their maker, and leave it alone") {
    const vow::context::scoped request(7);
    const auto here = [](auto &&...) { return vow::context::get<int>().value_or(0); };
    CHECK_EQ(vow::map(std::vector<int>{1}, here).get().at(0), 7);
    CHECK_EQ(vow::reduce(std::vector<vow::promise<int>>{vow::fulfilled(1)}, 0, here).get(), 7);
    CHECK_EQ(vow::repeat(
                 0, [](int i) { return i == 0; }, here)
                 .get(),
             7);
    CHECK_EQ(vow::retry({}, [&] { return vow::async(here); }).get(), 7);
    CHECK_EQ(vow::context::get<int>().value_or(0), 7);
    vow::context::clear();
    CHECK_EQ(vow::map(std::vector<int>{1}, here).get().at(0), 0);
    CHECK(vow::context::current().is_none());
}
