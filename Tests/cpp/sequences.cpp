// What is mapped or combined: containers, arrays and views, of which nobody loses an item.
#include "harness.hpp"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <set>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_ranges)
#include <ranges>
#include <span>
#endif

namespace {

const std::string long_text = "a text that is too long to be kept inside of a std::string";

std::size_t total(const std::vector<std::size_t> &lengths) {
    std::size_t sum = 0;
    for (const std::size_t each : lengths)
        sum += each;
    return sum;
}
std::size_t length(const std::string &text) {
    return text.size();
}

} // namespace

TEST("map leaves a container alone that it is not given") {
    std::vector<std::string> texts(3, long_text);
    CHECK_EQ(total(vow::map(texts, length).get()), 3 * long_text.size());
    CHECK_EQ(texts[2], long_text);
    std::string array[] = {long_text, "b"};
    CHECK_EQ(total(vow::map(array, length).get()), long_text.size() + 1);
    CHECK_EQ(array[0], long_text);
    CHECK_EQ(total(vow::map(std::set<std::string>{long_text, "b"}, length).get()),
             long_text.size() + 1);
}

TEST("map moves the items of a container that it is given") {
    tracked::copies = 0;
    std::vector<tracked> items;
    items.emplace_back(3);
    items.emplace_back(4);
    auto numbers = vow::map(std::move(items), [](const tracked &each) { return each.number; });
    CHECK_EQ(numbers.get().at(1), 4);
    CHECK_EQ(tracked::copies.load(), 0);
    std::deque<std::unique_ptr<int>> owners;
    owners.push_back(std::make_unique<int>(5));
    CHECK_EQ(vow::map(std::move(owners), [](std::unique_ptr<int> p) { return *p; }).get().at(0), 5);
}

TEST("promises are combined in whatever they stand") {
    std::list<vow::promise<int>> some;
    some.push_back(vow::fulfilled(1));
    some.push_back(vow::fulfilled(2));
    CHECK_EQ(vow::all(some).get().at(1), 2);
    CHECK(some.front() && some.back());
    std::array<vow::promise<int>, 2> pair{vow::fulfilled(3), vow::fulfilled(4)};
    CHECK_EQ(vow::race(pair).get(), 3);
    CHECK_EQ(vow::any(pair).get(), 3);
    CHECK_EQ(vow::some(pair, 2).get().size(), 2u);
    CHECK_EQ(vow::all_settled(pair).get().at(0).get(), 3);
    CHECK_EQ(vow::when_all(pair).get().at(1), 4);
    CHECK_EQ(vow::when_any(pair).get(), 3);
    CHECK_EQ(vow::reduce(pair, 10, [](int sum, int each) { return sum + each; }).get(), 17);
    CHECK_EQ(vow::all(std::move(some)).get().at(0), 1);
    CHECK(!some.front());
}

#if defined(__cpp_lib_ranges)

TEST("the items of a view stay where they are") {
    std::vector<std::string> texts(3, long_text);
    CHECK_EQ(total(vow::map(std::span(texts), length).get()), 3 * long_text.size());
    CHECK_EQ(total(vow::map(texts | std::views::take(2), length).get()), 2 * long_text.size());
    const auto is_long = [](const std::string &text) { return text.size() > 1; };
    CHECK_EQ(total(vow::map(texts | std::views::filter(is_long), length).get()),
             3 * long_text.size());
    CHECK_EQ(total(vow::map(std::ranges::subrange(texts.begin(), texts.end()), length).get()),
             3 * long_text.size());
    for (const std::string &each : texts)
        CHECK_EQ(each, long_text);
    std::map<int, std::string> named{{1, long_text}};
    CHECK_EQ(total(vow::map(named | std::views::values, length).get()), long_text.size());
    CHECK_EQ(named[1], long_text);
}

TEST("numbers that a view makes are mapped, and promises that it makes combined") {
    CHECK_EQ(vow::map(std::views::iota(1, 4), [](int each) { return each * each; }).get().at(2), 9);
    CHECK_EQ(vow::map(std::views::iota(1) | std::views::take(3), [](int each) { return each; })
                 .get()
                 .size(),
             3u);
    auto doubled = std::views::iota(1, 4) |
                   std::views::transform([](int each) { return vow::fulfilled(2 * each); });
    CHECK_EQ(vow::all(doubled).get().at(2), 6);
    CHECK_EQ(vow::when_all(std::views::iota(1, 4) |
                           std::views::transform([](int each) { return vow::fulfilled(3 * each); }))
                 .get()
                 .at(2),
             9);
}

#endif
