// Containers of what can only be moved: their only reader has them.
#include "harness.hpp"

#include <array>
#include <deque>
#include <list>
#include <map>

namespace {

using owner = std::unique_ptr<int>;

owner own(int number) {
    return std::make_unique<int>(number);
}
std::vector<owner> one(int number) {
    std::vector<owner> owners;
    owners.push_back(own(number));
    return owners;
}
template <class C> C with(int number) {
    C container;
    container.push_back(own(number));
    return container;
}

} // namespace

TEST("a container of what can only be moved is taken out by get, whatever container it is") {
    CHECK_EQ(*vow::fulfilled(one(3)).get().at(0), 3);
    CHECK_EQ(*vow::fulfilled(with<std::deque<owner>>(5)).get().at(0), 5);
    CHECK_EQ(*vow::fulfilled(with<std::list<owner>>(6)).get().front(), 6);
    std::map<int, owner> named;
    named[1] = own(7);
    CHECK_EQ(*vow::fulfilled(std::move(named)).get().at(1), 7);
    std::map<int, std::vector<owner>> nested;
    nested[1] = one(8);
    CHECK_EQ(*vow::fulfilled(std::move(nested)).get().at(1).at(0), 8);
    CHECK_EQ(*vow::fulfilled(std::array<owner, 1>{own(9)}).get().at(0), 9);
    CHECK_EQ(**vow::fulfilled(std::optional<owner>(own(10))).get(), 10);
    CHECK_EQ(*vow::fulfilled(std::pair<int, owner>(1, own(11))).get().second, 11);
    CHECK_EQ(vow::fulfilled(std::optional<std::vector<owner>>(one(12))).get()->size(), 1u);
}

TEST("a handler takes it by value or by reference, or takes nothing") {
    CHECK_EQ(vow::fulfilled(one(3)).then([](std::vector<owner> v) { return *v[0]; }).get(), 3);
    CHECK_EQ(vow::fulfilled(one(3)).then([](std::vector<owner> &&v) { return *v[0]; }).get(), 3);
    CHECK_EQ(vow::fulfilled(one(3)).then([](const std::vector<owner> &v) { return *v[0]; }).get(),
             3);
    CHECK_EQ(vow::fulfilled(one(3)).then([] { return 4; }).get(), 4);
    const auto take = [](vow::outcome<std::vector<owner>> o) { return o.take(); };
    CHECK_EQ(*vow::fulfilled(one(3)).settled(take).get().at(0), 3);
    CHECK_EQ(vow::fulfilled(with<std::list<owner>>(5))
                 .then([](std::list<owner> l) { return *l.front(); })
                 .get(),
             5);
}

TEST("combined results that can only be moved are taken as a tuple or a vector, or item by item") {
    const auto both = [] { return vow::all(vow::fulfilled(one(1)), vow::fulfilled(2)); };
    auto results = both().get();
    CHECK_EQ(*std::get<0>(results)[0], 1);
    CHECK_EQ(both().then([](std::vector<owner> v, int n) { return *v[0] + n; }).get(), 3);
    CHECK_EQ(both().then([](const std::vector<owner> &v, int n) { return *v[0] + n; }).get(), 3);
    using tuple = std::tuple<std::vector<owner>, int>;
    CHECK_EQ(both().then([](tuple all) { return std::get<1>(all); }).get(), 2);
    std::vector<vow::promise<owner>> many;
    many.push_back(vow::fulfilled(own(3)));
    CHECK_EQ(*vow::all(std::move(many)).get().at(0), 3);
    CHECK_EQ(*std::get<0>(vow::all_settled(vow::fulfilled(own(4))).get()).take(), 4);
    CHECK_EQ(*vow::map(std::vector<int>{1, 2}, own).get().at(1), 2);
}

TEST("what accumulates, and the state of a loop, may be what can only be moved") {
    const auto add = [](owner sum, int number) {
        *sum += number;
        return sum;
    };
    std::vector<vow::promise<int>> numbers{vow::fulfilled(3)};
    CHECK_EQ(*vow::reduce(std::move(numbers), own(4), add).get(), 7);
    const auto more = [](const std::vector<owner> &v) { return *v[0] > 0; };
    const auto less = [](std::vector<owner> v) {
        --*v[0];
        return v;
    };
    CHECK_EQ(*vow::repeat(one(4), more, less).get().at(0), 0);
}

TEST("a list of C whose items can only be moved is refused to who would copy them") {
    const auto list =
        vow::map(std::vector<int>{1}, own).then([](const std::vector<owner> &v) { return *v[0]; });
    CHECK_EQ(list.get(), 1);
    auto taken = vow::fulfilled(one(5));
    auto copy = taken;
    CHECK_EQ(*std::move(taken).get().at(0), 5);
    CHECK_THROWS(vow::error, std::move(copy).get());
}

#if defined(__cpp_impl_coroutine)

TEST("a coroutine awaits them") {
    auto sum = []() -> vow::promise<int> {
        const std::vector<int> numbers{1, 2};
        std::vector<owner> all = co_await vow::map(numbers, own);
        auto [first, second] = co_await vow::all(vow::fulfilled(one(3)), vow::fulfilled(own(4)));
        co_return *all[0] + *all[1] + *first[0] + *second;
    };
    CHECK_EQ(sum().get(), 10);
}

#endif
