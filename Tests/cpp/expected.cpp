// std::expected settles promises, and promises are read as one: C++23.
#include "harness.hpp"

#if defined(__cpp_lib_expected)

#include <system_error>

namespace {

struct parse_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
enum class mine { a, b };

std::expected<int, parse_error> parsed(int number) {
    if (number < 0)
        return std::unexpected(parse_error("negative"));
    return number * 2;
}
template <class E, class T = int> vow::promise<T> unexpected(E error) {
    return vow::async([error] { return std::expected<T, E>(std::unexpected(error)); });
}

} // namespace

TEST("a handler that returns a std::expected settles its promise by it") {
    auto p = vow::fulfilled(3).then(parsed);
    static_assert(std::is_same_v<decltype(p), vow::promise<int>>);
    CHECK_EQ(p.get(), 6);
    CHECK_THROWS(parse_error, vow::fulfilled(-1).then(parsed).get());
    CHECK_EQ(vow::rejected<long>(3).recover([](int n) { return parsed(n); }).get(), 6);
    CHECK_EQ(vow::fulfilled(3).settled([](vow::outcome<int> o) { return parsed(o.get()); }).get(),
             6);
    CHECK_EQ(vow::fulfilled(3).finally([] { return parsed(1); }).get(), 3);
    CHECK_THROWS(parse_error, vow::fulfilled(3).finally([] { return parsed(-1); }).get());
    const auto owner = [] {
        return std::expected<std::unique_ptr<int>, int>(std::make_unique<int>(3));
    };
    CHECK_EQ(*vow::async(owner).get(), 3);
    vow::async([] { return std::expected<void, int>(); }).get();
}

TEST("so does a function of map, reduce, repeat, retry, use and scopes, and a resolver") {
    CHECK_EQ(vow::map(std::vector{1, 2}, parsed).get().at(1), 4);
    CHECK_THROWS(parse_error, vow::map(std::vector{1, -2}, parsed).get());
    std::vector<vow::promise<int>> numbers{vow::fulfilled(1), vow::fulfilled(2)};
    CHECK_EQ(vow::reduce(numbers, 0, [](int a, int b) { return parsed(a + b); }).get(), 8);
    CHECK_EQ(vow::repeat(
                 1, [](int n) { return n < 10; }, parsed)
                 .get(),
             16);
    int tries = 0;
    CHECK_EQ(
        vow::retry(vow::retry_policy(), [&] { return parsed(++tries < 3 ? -1 : tries); }).get(), 6);
    CHECK_EQ(vow::use(vow::fulfilled(3), parsed, [](int n) { return parsed(n); }).get(), 6);
    vow::scope scope;
    CHECK_EQ(scope.async([] { return parsed(1); }).get(), 2);
    auto one = vow::pending<int>();
    one.resolver.resolve(parsed(3));
    CHECK_EQ(one.promise.get(), 6);
    auto other = vow::pending<long>();
    other.resolver.resolve(parsed(-3));
    CHECK_THROWS(parse_error, other.promise.get());
    auto none = vow::pending<void>();
    none.resolver.resolve(std::expected<void, int>());
    none.promise.get();
}

TEST("the error is a reason as reject takes it; what is none is a std::bad_expected_access") {
    CHECK_THROWS(std::system_error, unexpected(std::make_error_code(std::errc::io_error)).get());
    CHECK_THROWS(std::system_error, unexpected(std::errc::io_error).get());
    CHECK_THROWS(vow::timed_out, unexpected(vow::errc::timed_out).get());
    CHECK_THROWS(parse_error, unexpected(std::make_exception_ptr(parse_error("x"))).get());
    const auto text =
        CHECK_THROWS(std::bad_expected_access<std::string>, unexpected(std::string("why")).get());
    CHECK_EQ(text->error(), "why");
    CHECK(CHECK_THROWS(std::bad_expected_access<mine>, unexpected(mine::b).get())->error() ==
          mine::b);
}

TEST("a promise of a std::expected has it as its value") {
    using result = std::expected<int, parse_error>;
    CHECK(!vow::fulfilled(parsed(-1)).get().has_value());
    auto both = vow::pending<result>();
    both.resolver.resolve(parsed(-1));
    CHECK_EQ(both.promise.get().error().what(), std::string("negative"));
    auto itself = [](int n) -> vow::promise<result> { co_return parsed(n); };
    CHECK(!itself(-1).get().has_value());
}

TEST("get_expected returns rejections that are an E, and throws others") {
    const auto fails = [] { return vow::rejected<int>(parse_error("x")); };
    CHECK_EQ(vow::fulfilled(3).get_expected().value(), 3);
    CHECK(fails().get_expected().error() != nullptr);
    CHECK_EQ(fails().get_expected<parse_error>().error().what(), std::string("x"));
    CHECK_EQ(fails().get_expected<std::runtime_error>().error().what(), std::string("x"));
    CHECK_THROWS(parse_error, fails().get_expected<vow::error>());
    CHECK_EQ(unexpected(std::string("s")).get_expected<std::string>().error(), "s");
    CHECK_EQ(vow::rejected<int>(std::string("s")).get_expected<std::string>().error(), "s");
    CHECK(unexpected(mine::b).get_expected<mine>().error() == mine::b);
    CHECK_EQ(**vow::fulfilled(std::make_unique<int>(3)).get_expected(), 3);
    const auto p = vow::rejected<void>(parse_error("v"));
    CHECK(!p.get_expected().has_value());
    CHECK_THROWS(vow::error, vow::promise<int>().get_expected()); // there is no outcome
}

TEST("an error code is expected of what is or has one") {
    const auto late = [] { return vow::rejected<int>(vow::timed_out()); };
    CHECK(late().get_expected<std::error_code>().error() == std::errc::timed_out);
    CHECK(late().get_expected<vow::errc>().error() == vow::errc::timed_out);
    CHECK(late().get_expected<std::errc>().error() == std::errc::timed_out);
    const auto broken = [] { return vow::rejected<int>(vow::error("system", EIO, "of C")); };
    CHECK(broken().get_expected<std::error_code>().error() == std::errc::io_error);
    CHECK(broken().get_expected<std::errc>().error() == std::errc::io_error);
    CHECK_THROWS(vow::error, broken().get_expected<vow::errc>());
    CHECK_THROWS(vow::error,
                 vow::rejected<int>(vow::error("http", 404, "")).get_expected<std::error_code>());
}

TEST("as_expected is the same without waiting, for chains and coroutines") {
    auto reads = [](vow::promise<int> from) -> vow::promise<int> {
        const auto result = co_await std::move(from).as_expected<parse_error>();
        co_return result.has_value() ? *result : -1;
    };
    CHECK_EQ(reads(vow::fulfilled(3)).get(), 3);
    CHECK_EQ(reads(vow::rejected<int>(parse_error("x"))).get(), -1);
    CHECK_THROWS(std::logic_error, reads(vow::rejected<int>(std::logic_error("y"))).get());
    CHECK_EQ(**vow::fulfilled(std::make_unique<int>(3)).as_expected().get(), 3);
    auto cancelled = vow::delay(10s).as_expected();
    CHECK(cancelled.cancel());
    CHECK_THROWS(vow::cancelled, cancelled.get());
}

TEST("a coroutine returns a std::expected") {
    auto returns = [](int n) -> vow::promise<long> {
        co_await vow::delay(1ms);
        co_return parsed(n);
    };
    CHECK_EQ(returns(3).get(), 6);
    CHECK_THROWS(parse_error, returns(-3).get());
}

#endif
