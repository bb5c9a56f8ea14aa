// What C++ types become in a promise, and C reads of them.
#include "harness.hpp"

#include <map>

namespace {
enum class colour : unsigned char { red = 1, blue = 2 };

template <class T> vow_value peeked(const vow::promise<T> &p) {
    vow_value native;
    CHECK(vow_promise_peek(p.native(), &native));
    return native;
}
} // namespace

TEST("whole numbers, truth values and enumerations are numbers in C") {
    CHECK_EQ(peeked(vow::fulfilled(41)).kind, VOW_INT);
    CHECK_EQ(peeked(vow::fulfilled(-7L)).as.integer, -7);
    CHECK_EQ(peeked(vow::fulfilled(true)).kind, VOW_BOOL);
    CHECK_EQ(peeked(vow::fulfilled(colour::blue)).as.integer, 2);
    CHECK(vow::fulfilled(colour::blue).get() == colour::blue);
    CHECK_EQ(vow::fulfilled('x').get(), 'x');
}

TEST("64 unsigned bits come back as they went") {
    CHECK_EQ(vow::fulfilled(UINT64_MAX).get(), UINT64_MAX);
    CHECK_EQ(peeked(vow::fulfilled(UINT64_MAX)).as.integer, -1);
}

TEST("floating-point numbers are doubles in C; a long double is an object") {
    CHECK_EQ(peeked(vow::fulfilled(0.5F)).as.real, 0.5);
    CHECK_EQ(vow::fulfilled(0.25).get(), 0.25);
    CHECK_EQ(peeked(vow::fulfilled(1.0L)).kind, VOW_OBJECT);
    CHECK_EQ(vow::fulfilled(1.0L).get(), 1.0L);
}

TEST("a string is a string in C, with its NUL bytes") {
    const auto p = vow::fulfilled(std::string("a\0b", 3));
    CHECK_EQ(peeked(p).kind, VOW_STRING);
    std::size_t length = 0;
    vow_string_bytes(peeked(p), &length);
    CHECK_EQ(length, 3U);
    CHECK_EQ(p.get(), std::string("a\0b", 3));
}

TEST("a pointer is a plain pointer, which nobody owns") {
    int x = 3;
    CHECK_EQ(*vow::fulfilled(&x).get(), 3);
    CHECK_EQ(peeked(vow::fulfilled(&x)).kind, VOW_POINTER);
    const int y = 4;
    CHECK_EQ(*vow::fulfilled(&y).get(), 4);
}

TEST("any other type is an object, destroyed once") {
    {
        const auto p = vow::fulfilled(tracked(5));
        CHECK_EQ(tracked::alive.load(), 1);
        CHECK_EQ(peeked(p).kind, VOW_OBJECT);
        CHECK_EQ(p.get().number, 5);
    }
    CHECK_EQ(tracked::alive.load(), 0);
    CHECK_EQ(vow::fulfilled(std::map<int, std::string>{{1, "one"}}).get().at(1), "one");
    CHECK_EQ(vow::fulfilled(std::optional<int>(3)).get().value(), 3);
}

TEST("handlers that look at a value copy nothing") {
    const long before = tracked::copies;
    auto p = vow::fulfilled(tracked(5));
    CHECK_EQ(p.then([](const tracked &t) { return t.number; }).get(), 5);
    CHECK_EQ(vow::fulfilled(std::vector<tracked>(3))
                 .then([](const std::vector<tracked> &v) { return v.size(); })
                 .get(),
             3U);
    CHECK_EQ(tracked::copies - before, 0);
}

TEST("a handler that takes a T&& moves the value out, and a second taker is told") {
    auto p = vow::fulfilled(tracked(5));
    auto again = p;
    const long before = tracked::copies;
    CHECK_EQ(std::move(p).then([](tracked &&t) { return tracked(std::move(t)).number; }).get(), 5);
    CHECK_EQ(tracked::copies - before, 0);
    const auto error = CHECK_THROWS(vow::error, again.get());
    CHECK(error && error->is(vow::errc::invalid_argument));
}

TEST("a type that can only be moved is moved out of a promise that is given away") {
    CHECK_EQ(vow::fulfilled(unique(5)).get().number, 5);
    CHECK_EQ(vow::fulfilled(unique(6)).then([](unique u) { return u.number; }).get(), 6);
    CHECK_EQ(vow::fulfilled(unique(7)).take().number, 7);
    auto p = vow::fulfilled(unique(8));
    CHECK_EQ(p.then([](const unique &u) { return u.number; }).get(), 8);
    CHECK_EQ(std::move(p).get().number, 8);
    std::vector<unique> several;
    several.emplace_back(1);
    CHECK_EQ(vow::fulfilled(std::move(several))
                 .then([](std::vector<unique> v) { return v.at(0).number; })
                 .get(),
             1);
}

TEST("take() moves a value out that could be copied") {
    const long before = tracked::copies;
    CHECK_EQ(vow::fulfilled(tracked(5)).take().number, 5);
    CHECK_EQ(tracked::copies - before, 0);
}

TEST("a value of another kind than the promise's type is an error where it is read") {
    const auto text = vow::promise<int>::adopt(vow_promise_with(vow_string("x", 1)));
    const auto error = CHECK_THROWS(vow::error, text.get());
    CHECK(error && error->is(vow::errc::invalid_argument));
    CHECK(error && std::string(error->what()).find("no whole number") != std::string::npos);
    CHECK_THROWS(vow::error, text.then([](int x) { return x; }).get());
    CHECK_THROWS(vow::error, text.as<tracked>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(1).as<bool>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(1).as<double>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(1).as<std::string>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(1).as<int *>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(1).as<std::vector<int>>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(tracked()).as<std::string>().get());
}

TEST("a number that does not fit is an error where it is read") {
    CHECK_THROWS(vow::error, vow::fulfilled(INT64_MAX).as<int>().get());
    CHECK_THROWS(vow::error, vow::fulfilled(-1).as<unsigned>().get());
    CHECK_EQ(vow::fulfilled(200L).as<unsigned char>().get(), 200);
}

TEST("promise<void> reads everything, promise<value> any content") {
    vow::fulfilled(3).as<void>().get();
    const vow::value any = vow::fulfilled(std::string("x")).as<vow::value>().get();
    CHECK_EQ(any.text(), "x");
    CHECK_EQ(any.as<std::string>(), "x");
    CHECK_EQ(any.describe(), "\"x\"");
    CHECK(vow::fulfilled().as<vow::value>().get().is_none());
}

TEST("a list of C is a vector or a tuple, and values are made and read by hand") {
    const vow_value items[] = {vow_int(1), vow_string("x", 1)};
    const auto list =
        vow::promise<std::tuple<int, std::string>>::adopt(vow_promise_with(vow_list(items, 2)));
    CHECK_EQ(std::get<1>(list.get()), "x");
    CHECK_THROWS(vow::error, list.as<std::tuple<int>>().get());
    CHECK_THROWS(vow::error, list.as<std::vector<int>>().get());
    const auto any = list.as<vow::value>().get();
    CHECK_EQ(any.size(), 2U);
    CHECK_EQ(any[0].as<int>(), 1);
    CHECK(any[2].is_none());
    CHECK_EQ(vow::value::of(3).native().as.integer, 3);
}

TEST("vectors and tuples of the program travel whole") {
    CHECK_EQ(vow::fulfilled(std::vector<int>{1, 2}).get().at(1), 2);
    CHECK_EQ(std::get<0>(vow::fulfilled(std::make_tuple(1, 2)).get()), 1);
    CHECK_EQ(vow::fulfilled(std::vector<bool>{true}).get().size(), 1U);
}

struct point {
    int x, y;
};
template <> struct vow::value_traits<point> {
    static vow_value write(point p) {
        return vow_int(p.x * 100 + p.y);
    }
    static point read(vow_value native) {
        const int both = value_traits<int>::read(native);
        return {both / 100, both % 100};
    }
    static point take(vow_value native) {
        return read(native);
    }
};

TEST("a type of the program may say itself what it is in C") {
    const auto p = vow::fulfilled(point{3, 4});
    CHECK_EQ(peeked(p).as.integer, 304);
    CHECK_EQ(p.then([](const point &at) { return at.y; }).get(), 4);
}
