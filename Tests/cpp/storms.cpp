// Each kind of operation many times over: memory stays as it is, and a sanitizer has nothing to
// say. TEST_DEPTH=full: a million of each.
#include "harness.hpp"

#include <cstdlib>
#include <malloc.h>
#include <stdexcept>
#include <vector>

#if defined(VOW_SANITIZED)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace {

int depth() {
    const char *text = std::getenv("TEST_DEPTH");
    return text != nullptr && std::string(text) == "full" ? 1000000 : 2000;
}

std::size_t bytes_in_use() {
#if defined(VOW_SANITIZED)
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

/// Does it as often as the storm is long. What is in use after a tenth is in use at the end, but
/// for what threads and tables of the library have taken meanwhile.
template <class Operation> void storm(Operation operation) {
    const int rounds = depth();
    std::size_t early = 0;
    for (int i = 0; i < rounds; i++) {
        operation(i);
        if (i == rounds / 10)
            early = bytes_in_use();
    }
    constexpr std::size_t slack = std::size_t{1} << 18;
    std::size_t late = 0;
    if (!comes_true([&] { return (late = bytes_in_use()) < early + slack; }))
        CHECK_EQ(late, early);
}

/// As a value that is destroyed.
vow::promise<tracked> made(int number) {
    return vow::fulfilled(tracked(number));
}
vow::promise<int> failed() {
    return vow::rejected<int>(std::runtime_error("on purpose"));
}

} // namespace

TEST("a storm of then, on the pool and in place") {
    const auto here = vow::inline_executor();
    storm([&](int i) {
        auto both = vow::pending<tracked>();
        auto next = std::move(both.promise)
                        .then([t = tracked(i)](tracked &&got) { return got.number + t.number; },
                              i % 2 ? here : vow::executor())
                        .then([](int sum) { return std::to_string(sum); }, here);
        both.resolver.resolve(tracked(i));
        CHECK_EQ(std::move(next).get(), std::to_string(2 * i));
    });
}

TEST("a storm of recover: by type, by code, for all, and past") {
    const auto here = vow::inline_executor();
    storm([&](int i) {
        const int got = (i % 2 ? failed() : vow::rejected<int>(vow::timed_out()))
                            .recover([](const std::logic_error &) { return 1; }, here)
                            .recover(
                                vow::errc::timed_out, [t = tracked(2)] { return t.number; }, here)
                            .recover([](const std::runtime_error &) { return 3; }, here)
                            .finally([t = tracked()] {}, here)
                            .get();
        CHECK_EQ(got, i % 2 ? 3 : 2);
    });
}

TEST("a storm of all, any and race, and of those that wait for the end") {
    storm([](int i) {
        auto one = vow::pending<tracked>();
        auto two = vow::pending<tracked>();
        auto number = vow::pending<int>();
        auto all = vow::all(one.promise, two.promise, number.promise);
        auto when = vow::when_all(one.promise, two.promise);
        auto any = vow::any(one.promise, two.promise);
        auto race = vow::race(failed(), std::move(number.promise));
        auto other = vow::pending<tracked>();
        auto first = vow::when_any(std::move(other.promise), made(i));
        number.resolver.resolve(i);
        one.resolver.resolve(tracked(i));
        two.resolver.resolve(tracked(i + 1));
        CHECK_EQ(std::get<2>(std::move(all).get()), i);
        CHECK_EQ(std::get<1>(std::move(when).get()).number, i + 1);
        CHECK_EQ(std::move(any).get().number, i);
        CHECK_THROWS(std::runtime_error, race.get());
        CHECK_EQ(first.get().number, i);
    });
}

TEST("a storm of map, reduce and some") {
    storm([](int i) {
        auto mapped = vow::map(std::vector<int>{i, i + 1}, made);
        std::vector<vow::promise<tracked>> many;
        many.push_back(made(1));
        many.push_back(made(2));
        CHECK_EQ(
            vow::reduce(many, 0, [](int sum, const tracked &t) { return sum + t.number; }).get(),
            3);
        CHECK_EQ(vow::some(std::move(many), 1).get().size(), std::size_t{1});
        CHECK_EQ(mapped.get().at(1).number, i + 1);
    });
}

TEST("a storm of time-outs: those that fall due, those that do not, prompt and quiet") {
    storm([](int i) {
        if (i % 4 != 0) {
            CHECK_EQ(made(i).timeout(1h).get().number, i);
            return;
        }
        auto never = vow::pending<tracked>();
        auto late = i % 8 ? std::move(never.promise).timeout(0ms)
                          : std::move(never.promise).timeout(1us, vow::prompt);
        CHECK_THROWS(vow::timed_out, late.get());
        never.resolver.resolve(tracked());
    });
}

TEST("a storm of scopes whose members end, fail and are cancelled") {
    storm([](int i) {
        auto never = vow::pending<tracked>();
        vow::scope scope;
        scope.add(std::move(never.promise));
        auto member = scope.async(vow::inline_executor(), [t = tracked(i)] { return t.number; });
        CHECK_EQ(member.get(), i);
        if (i % 2) {
            scope.cancel();
            std::move(scope).close().wait();
        }
    });
}

TEST("a storm of cancellations: of promises, by tokens, while it runs") {
    storm([](int i) {
        const vow::cancel_source source;
        vow::options where;
        where.token = source.token();
        auto never = vow::pending<tracked>();
        never.resolver.on_cancel([t = tracked()] {});
        auto by_token = never.promise.then([](const tracked &) { return 1; }, where);
        auto chain = std::move(never.promise).finally([t = tracked(i)] {});
        source.cancel();
        CHECK_THROWS(vow::cancelled, by_token.get());
        chain.cancel(i);
        CHECK_THROWS(vow::cancelled, chain.get());
        auto runs =
            vow::async(vow::pool_executor(), [t = tracked(i)] { return tracked(t.number); });
        runs.cancel();
        runs.wait();
    });
}

TEST("a storm of use") {
    storm([](int i) {
        int released = 0;
        auto used = vow::use(
            made(i), [](const tracked &t) { return t.number; },
            [&](const tracked &) { released++; }, vow::inline_executor());
        CHECK_EQ(used.get(), i);
        CHECK_EQ(released, 1);
    });
}

#if defined(__cpp_impl_coroutine)

namespace {

vow::promise<int> awaits(vow::promise<tracked> from, bool fails) {
    const tracked local;
    const tracked got = co_await std::move(from);
    if (fails)
        throw std::runtime_error("on purpose");
    co_return got.number + local.number;
}
vow::promise<int> nested(int i) {
    auto both = vow::pending<tracked>();
    auto inner = awaits(std::move(both.promise), i % 3 == 0);
    both.resolver.resolve(tracked(i));
    try {
        co_return co_await std::move(inner);
    } catch (const std::runtime_error &) {
    }
    co_return co_await awaits(made(i), false);
}

} // namespace

TEST("a storm of coroutines that await each other, fail and recover") {
    storm([](int i) { CHECK_EQ(nested(i).get(), i); });
}

TEST("a storm of coroutines that are cancelled: waiting, dropped, losing") {
    storm([](int i) {
        auto never = vow::pending<tracked>();
        auto p = awaits(std::move(never.promise), false);
        if (i % 3 == 0) {
            p.cancel();
            CHECK_THROWS(vow::cancelled, p.get());
        } else if (i % 3 == 1) {
            auto other = vow::pending<tracked>();
            auto won = vow::when_any(std::move(p), awaits(std::move(other.promise), false));
            other.resolver.resolve(tracked(i));
            CHECK_EQ(won.get(), i);
        } else {
            p.reset();
        }
    });
}

#endif
