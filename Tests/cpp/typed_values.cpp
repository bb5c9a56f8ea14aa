// A value is read as the type that it is of, or not at all.
#include "harness.hpp"

#include <cfloat>
#include <climits>

namespace {

enum class color { red, green, blue };
enum class taste { sweet, sour };
enum shade { light, dark };
enum class level { low, high };
enum class truth : bool { no, yes };

struct left {
    int a = 1;
};
struct right {
    int b = 2;
};
struct both : left, right {};

template <class T, class U> bool is_refused(const vow::promise<U> &p) {
    try {
        p.template as<T>().get();
    } catch (const vow::error &refused) {
        return refused.is(vow::errc::invalid_argument);
    }
    return false;
}
vow::promise<vow::value> of_c(vow_value native) {
    return vow::promise<vow::value>::adopt(vow_promise_with(native));
}

} // namespace

template <> struct vow::enumeration<level> {
    static constexpr bool has(std::int64_t number) {
        return number == 0 || number == 1;
    }
};

TEST("a pointer is read as the pointer that it was, and to no other type") {
    both object;
    int number = 3;
    const auto p = vow::fulfilled(&object);
    CHECK(p.get() == &object);
    CHECK(is_refused<right *>(p));
    CHECK(is_refused<left *>(p));
    CHECK(is_refused<std::string *>(vow::fulfilled(&number)));
    const auto adjusted = p.then([](both *from) -> right * { return from; });
    CHECK_EQ(adjusted.get()->b, 2);
}

TEST("a pointer is read as one to a constant, and not back") {
    int number = 3;
    const int constant = 4;
    CHECK_EQ(*vow::fulfilled(&number).as<const int *>().get(), 3);
    CHECK_EQ(*vow::fulfilled(&constant).get(), 4);
    CHECK(is_refused<int *>(vow::fulfilled(&constant)));
}

TEST("a pointer that knows no type is read as any, and any as one that knows none") {
    int number = 3;
    CHECK_EQ(*of_c(vow_pointer(&number)).as<int *>().get(), 3);
    CHECK(vow::fulfilled(&number).as<void *>().get() == &number);
    CHECK_EQ(*vow::fulfilled(static_cast<void *>(&number)).as<int *>().get(), 3);
    vow_value seen;
    CHECK(vow_promise_peek(vow::fulfilled(&number).native(), &seen));
    CHECK(seen.kind == VOW_POINTER && seen.as.pointer == &number);
}

TEST("an enumeration is read as that enumeration, and as a number, and not as another one") {
    CHECK(vow::fulfilled(color::blue).get() == color::blue);
    CHECK(vow::all(vow::fulfilled(color::blue), vow::fulfilled(1))
              .then([](color c, int) { return c; })
              .get() == color::blue);
    CHECK(is_refused<taste>(vow::fulfilled(color::green)));
    CHECK(is_refused<color>(vow::fulfilled(1)));
    CHECK(is_refused<color>(of_c(vow_int(77))));
    CHECK_EQ(vow::fulfilled(color::blue).as<int>().get(), 2);
    CHECK(vow::fulfilled(truth::yes).get() == truth::yes);
    CHECK(is_refused<truth>(vow::fulfilled(1)));
    vow_value seen;
    CHECK(vow_promise_peek(vow::fulfilled(color::blue).native(), &seen));
    std::int64_t number = 0;
    CHECK(vow_as_int(seen, &number) && number == 2);
}

TEST("an enumeration that says which numbers it has is read from what C has written") {
    CHECK(of_c(vow_int(1)).as<level>().get() == level::high);
    CHECK(is_refused<level>(of_c(vow_int(77))));
    CHECK(is_refused<level>(vow::fulfilled(color::green)));
    CHECK(is_refused<level>(vow::fulfilled(static_cast<level>(77))));
    CHECK(vow::fulfilled(level::high).get() == level::high);
}

TEST("bits of another language's type are no number") {
    vow_value foreign = vow_int(5);
    foreign.reserved = 17; // as Swift writes a small value of a type of its own
    CHECK(is_refused<int>(of_c(foreign)));
    CHECK(is_refused<color>(of_c(foreign)));
}

TEST("a number that is too large for a float is none") {
    CHECK(is_refused<float>(vow::fulfilled(1e300)));
    CHECK(is_refused<float>(vow::fulfilled(-1e300)));
    CHECK_EQ(vow::fulfilled(double{FLT_MAX}).as<float>().get(), FLT_MAX);
    CHECK_EQ(vow::fulfilled(0.1).as<float>().get(), 0.1f);
    CHECK_EQ(vow::fulfilled(std::numeric_limits<double>::infinity()).as<float>().get(),
             std::numeric_limits<float>::infinity());
}

TEST("a literal is converted where it fits, and refused where it does not") {
    const auto settle = [](auto like, auto content) {
        auto both = vow::pending<decltype(like)>();
        try {
            both.resolver.resolve(content);
        } catch (const vow::error &refused) {
            both.resolver.resolve(decltype(like){});
            return refused.is(vow::errc::invalid_argument);
        }
        return !(both.promise.get() == static_cast<decltype(like)>(content));
    };
    CHECK(!settle(std::size_t{}, 7));
    CHECK(!settle(std::uint8_t{}, 255));
    CHECK(!settle(1.0, 7));
    CHECK(!settle(1.0f, 7));
    CHECK(!settle(std::int64_t{}, short{7}));
    CHECK(!settle(true, 1));
    CHECK(!settle(1, dark));
    CHECK(settle(std::size_t{}, -1));
    CHECK(settle(std::uint8_t{}, 256));
    CHECK(settle(std::int8_t{}, 128));
    CHECK(settle(true, 2));
    CHECK(settle(1.0f, INT_MAX));
    CHECK_THROWS(vow::error,
                 vow::rejected<unsigned>(1).recover([](int one) { return -one; }).get());
}

namespace {
struct parcel {
    std::string to;
};
} // namespace

TEST("a handler reads an object of a type of this file, also where it is lent to it") {
    const auto sent = vow::fulfilled(1).then([](int) { return parcel{"you"}; });
    CHECK_EQ(sent.then([](const parcel &it) { return it.to; }).get(), "you");
}
