// Coroutines that call coroutines, and long chains of those that wait for each other.
#include "harness.hpp"

#if defined(__cpp_impl_coroutine)

namespace {

constexpr int many = 100000;

vow::promise<int> one_more(vow::promise<int> last) {
    co_return 1 + co_await std::move(last);
}
vow::promise<int> chain_of(int length, vow::promise<int> last) {
    for (int i = 0; i < length; i++)
        last = one_more(std::move(last));
    return last;
}

vow::promise<void> note(std::vector<std::string> &notes, const std::string &line) {
    notes.push_back(line);
    co_return;
}
/// Lends each level's own text to a coroutine that nobody awaits; a level takes a page of stack.
vow::promise<int> descend(std::vector<std::string> &notes, int levels) {
    char room[4096];
    static_cast<volatile char *>(room)[0] = 1;
    {
        const std::string text = "level " + std::to_string(levels);
        note(notes, text).detach();
    }
    if (levels == 0)
        co_return 0;
    co_return 1 + co_await descend(notes, levels - 1);
}

vow::promise<std::size_t> inner(std::size_t size) {
    co_return size;
}
vow::promise<std::size_t> with_a_large_frame() {
    char room[256 * 1024];
    static_cast<volatile char *>(room)[0] = 1;
    return inner(sizeof room);
}
/// Blocks in its beginning, in which a handler begins another coroutine.
vow::promise<std::size_t> blocking() {
    const std::size_t now = vow::async(with_a_large_frame).get();
    co_return now + vow::delay(1ms).then(with_a_large_frame).get();
}

} // namespace

TEST("a coroutine has begun when its call returns, however much stack is in use") {
    std::vector<std::string> notes;
    auto depth = descend(notes, 100);
    CHECK_EQ(notes.size(), 101u);
    CHECK_EQ(notes.back(), "level 0");
    CHECK_EQ(std::move(depth).get(), 100);
}

TEST("a handler with a large frame begins a coroutine for one that blocks in its beginning") {
    CHECK_EQ(vow::async(vow::pool_executor(), blocking).get(), 512u * 1024);
    CHECK_EQ(blocking().get(), 512u * 1024);
    const vow::loop loop;
    CHECK_EQ(blocking().get(), 512u * 1024);
}

TEST("100,000 coroutines in a row pass on one value, or one exception") {
    auto [promise, resolver] = vow::pending<int>();
    auto sum = chain_of(many, std::move(promise));
    CHECK(!sum.is_settled());
    resolver.resolve(7);
    CHECK_EQ(std::move(sum).get(), many + 7);
    auto failing = vow::pending<int>();
    sum = chain_of(many / 10, std::move(failing.promise));
    failing.resolver.reject(std::runtime_error("at the end"));
    CHECK_THROWS(std::runtime_error, sum.get());
}

TEST("100,000 coroutines in a row are cancelled, and dropped, without a stack") {
    auto first = vow::pending<int>();
    auto sum = chain_of(many, std::move(first.promise));
    CHECK(sum.cancel());
    CHECK_THROWS(vow::cancelled, sum.get());
    auto second = vow::pending<int>();
    sum = chain_of(many, std::move(second.promise));
    sum.reset();
    std::atomic<bool> is_unwanted{false};
    second.resolver.on_cancel([&] { is_unwanted = true; });
    CHECK(comes_true([&] { return is_unwanted.load(); }));
}

TEST("a coroutine awaits 100,000 settled promises, and its own kind, in one frame of stack") {
    auto last = chain_of(many, vow::fulfilled(0));
    CHECK(last.is_settled());
    auto sum = [](int times) -> vow::promise<long> {
        long total = 0;
        for (int i = 0; i < times; i++)
            total += co_await one_more(vow::fulfilled(i));
        co_return total;
    }(many);
    CHECK(sum.is_settled());
    CHECK_EQ(sum.get(), static_cast<long>(many) * (many + 1) / 2);
}

#endif
