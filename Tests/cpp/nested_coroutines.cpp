// Coroutines that call coroutines, deeper than any stack.
#include "harness.hpp"

#if defined(__cpp_impl_coroutine)

namespace {

constexpr int deep = 100000;

vow::promise<int> depth_of(int levels) {
    if (levels == 0)
        co_return 0;
    co_return 1 + co_await depth_of(levels - 1);
}
vow::promise<int> depth_then(int levels, vow::promise<int> last) {
    if (levels == 0)
        co_return co_await std::move(last);
    co_return 1 + co_await depth_then(levels - 1, std::move(last));
}
vow::promise<int> failing(int levels) {
    if (levels == 0)
        throw std::runtime_error("at the bottom");
    co_return co_await failing(levels - 1);
}
// A call that is blocked on, in the beginning of a coroutine.
vow::promise<int> blocking(int levels) {
    if (levels == 0)
        co_return 0;
    char room[4096];
    static_cast<volatile char *>(room)[0] = 1;
    co_return 1 + blocking(levels - 1).get();
}
vow::promise<std::string> named(int levels) {
    if (levels == 0)
        co_return vow::context::get<std::string>().value_or("none");
    co_return co_await named(levels - 1);
}

} // namespace

TEST("100,000 coroutines that begin each other need no stack") {
    CHECK_EQ(depth_of(deep).get(), deep);
    vow::loop loop;
    auto on_loop = vow::async(loop.executor(), [] { return depth_of(deep); });
    loop.run_until(on_loop);
    CHECK_EQ(on_loop.get(), deep);
    CHECK_EQ(vow::async(vow::inline_executor(), [] { return depth_of(deep); }).get(), deep);
}

TEST("100,000 nested coroutines wait for one promise, and return it or its exception") {
    auto [promise, resolver] = vow::pending<int>();
    auto sum = depth_then(deep, std::move(promise));
    CHECK(!sum.is_settled());
    resolver.resolve(7);
    CHECK_EQ(std::move(sum).get(), deep + 7);
    CHECK_THROWS(std::runtime_error, failing(deep / 10).get());
}

TEST("100,000 nested coroutines are cancelled, and dropped, without a stack") {
    auto first = vow::pending<int>();
    auto sum = depth_then(deep, std::move(first.promise));
    CHECK(sum.cancel());
    CHECK_THROWS(vow::cancelled, sum.get());
    auto second = vow::pending<int>();
    sum = depth_then(deep, std::move(second.promise));
    sum.reset();
    std::atomic<bool> is_unwanted{false};
    second.resolver.on_cancel([&] { is_unwanted = true; });
    CHECK(comes_true([&] { return is_unwanted.load(); }));
}

TEST("a coroutine that begins late begins before the thread waits for it") {
    CHECK_EQ(blocking(60).get(), 60);
}

TEST("a coroutine that begins late has the context of its caller") {
    const vow::context::scoped outer(std::string("outer"));
    auto call = []() -> vow::promise<std::string> {
        vow::promise<std::string> name;
        {
            const vow::context::scoped inner(std::string("inner"));
            name = named(20000);
        }
        co_return co_await std::move(name);
    };
    CHECK_EQ(call().get(), "inner");
    CHECK_EQ(vow::context::get<std::string>().value_or("none"), "outer");
}

#endif
