// How far work has come.
#include "harness.hpp"

#include <cmath>

TEST("who listens hears how far the work has come") {
    const auto work = vow::pending<int>();
    std::atomic<int> calls{0};
    std::atomic<double> last{0};
    const auto listens = vow::on_progress(
        work.promise, 0ms, [&, t = tracked()](double fraction, std::string_view note) {
            last = fraction;
            calls += note == "half" ? 1 : 0;
        });
    vow::set_progress(work.resolver, 0.5, "half");
    CHECK(comes_true([&] { return calls > 0 && last == 0.5; }));
    CHECK_THROWS(vow::error, vow::set_progress(work.promise, std::nan("")));
    CHECK_THROWS(vow::error,
                 (void)vow::on_progress(work.promise, -1ms, [](double, std::string_view) {}));
    work.resolver.resolve(1);
    CHECK_EQ(work.promise.get(), 1);
}

TEST("100,000 that have listened are gone from the promise, with what they captured") {
    const auto work = vow::pending<int>();
    int calls = 0;
    const vow::loop loop;
    const auto before = vow::statistics().bytes;
    for (int i = 0; i < 100000; i++) {
        const auto listens = vow::on_progress(
            work.promise, 0ms, [&, t = tracked()](double, std::string_view) { calls++; });
        CHECK(listens.stage() == vow::stage::waiting);
    }
    loop.run_once(0ms);
    CHECK_EQ(tracked::alive.load(), 0);
    CHECK(vow::statistics().bytes <= before + 1000);
    vow::set_progress(work.resolver, 0.5);
    loop.run_until(vow::delay(1ms));
    CHECK_EQ(calls, 0);
}

TEST("one that listens leaves when it has heard enough, or stays to the end") {
    const auto work = vow::pending<int>();
    const vow::loop loop;
    int first = 0, second = 0;
    vow::registration listens = vow::on_progress(work.promise, 0ms, [&](double, std::string_view) {
        first++;
        CHECK(listens.leave() == vow::stage::never_runs);
    });
    vow::on_progress(work.promise, 0ms, [&](double, std::string_view) { second++; }).stay();
    for (const double fraction : {0.1, 0.2, 0.3}) {
        vow::set_progress(work.resolver, fraction);
        loop.run_until(vow::delay(1ms));
    }
    CHECK_EQ(first, 1);
    CHECK_EQ(second, 3);
    work.resolver.resolve(1);
}
