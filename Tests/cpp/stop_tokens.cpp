// std::stop_token and vow::token.
#include "harness.hpp"

#if __has_include(<stop_token>) && __cplusplus >= 202002L

#include <vow/stop_token.hpp>

TEST("a stop token is stopped with the token that it is of, and not before") {
    vow::cancel_source source;
    const auto stop = vow::to_stop_token(source.token());
    bool told = false;
    const std::stop_callback callback(stop, [&] { told = true; });
    CHECK(stop.stop_possible() && !stop.stop_requested() && !told);
    source.cancel();
    CHECK(stop.stop_requested() && told);
    CHECK(vow::to_stop_token(source.token()).stop_requested());
    CHECK(!vow::to_stop_token(vow::token()).stop_possible());
}

TEST("a stop token that is made at once stays with the token, for good") {
    vow::cancel_source source;
    const std::stop_token stop = vow::to_stop_token(source.token());
    CHECK(stop.stop_possible() && !stop.stop_requested());
    source.cancel();
    CHECK(stop.stop_requested());
}

TEST("100,000 stop tokens of one token leave nothing with it, nor with who kept one") {
    const vow::cancel_source source;
    const auto before = vow::statistics().bytes;
    std::stop_token kept;
    for (int i = 0; i < 100000; i++) {
        const auto stop = vow::to_stop_token(source.token());
        kept = stop;
    }
    CHECK(vow::statistics().bytes <= before + 1000);
    source.cancel();
    CHECK(!kept.stop_requested() && !kept.stop_possible());
}

TEST("a token is cancelled with the stop token that it is of, for as long as that is wanted") {
    std::stop_source source;
    vow::token kept;
    {
        const vow::stopped_by link(source.get_token());
        kept = link.token();
        CHECK(!kept.is_cancelled());
    }
    const vow::stopped_by link(source.get_token());
    vow::options where;
    where.token = link.token();
    auto both = vow::pending<int>();
    const auto waits = both.promise.then([](int number) { return number; }, where);
    source.request_stop();
    CHECK_THROWS(vow::cancelled, waits.get());
    CHECK(link.token().is_cancelled() && !kept.is_cancelled());
    const vow::stopped_by late(source.get_token());
    CHECK(late.token().is_cancelled());
    both.resolver.resolve(1);
}

#if defined(__cpp_impl_coroutine)

TEST("a coroutine gives its own token to what takes a stop token") {
    std::stop_token stop;
    auto work = [](std::stop_token &given) -> vow::promise<void> {
        const auto link = vow::to_stop_token(co_await vow::current_token());
        given = link;
        co_await vow::delay(1h);
    };
    auto p = work(stop);
    CHECK(!stop.stop_requested());
    p.cancel();
    CHECK_THROWS(vow::cancelled, p.get());
    CHECK(stop.stop_requested());
}

#endif
#endif
