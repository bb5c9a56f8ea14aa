// How far work has come.
#include "harness.hpp"

#include <cmath>

TEST("who listens hears how far the work has come") {
    const auto work = vow::pending<int>();
    std::atomic<int> calls{0};
    std::atomic<double> last{0};
    vow::on_progress(work.promise, 0ms, [&, t = tracked()](double fraction, std::string_view note) {
        last = fraction;
        calls += note == "half" ? 1 : 0;
    });
    vow::set_progress(work.resolver, 0.5, "half");
    CHECK(comes_true([&] { return calls > 0 && last == 0.5; }));
    CHECK_THROWS(vow::error, vow::set_progress(work.promise, std::nan("")));
    CHECK_THROWS(vow::error, vow::on_progress(work.promise, -1ms, [](double, std::string_view) {}));
    work.resolver.resolve(1);
    CHECK_EQ(work.promise.get(), 1);
}
