// How far work has come, where the library tells it; and names.
#include "harness.hpp"

namespace {
// Templates, so that what an older library lacks is not looked for.
template <class T> void listens_to_progress(const vow::pending_promise<T> &work) {
    if constexpr (vow::has_progress) {
        std::atomic<int> calls{0};
        std::atomic<double> last{0};
        vow::on_progress(work.promise, 0ms,
                         [&, t = tracked()](double fraction, std::string_view note) {
                             last = fraction;
                             calls += note == "half" ? 1 : 0;
                         });
        vow::set_progress(work.resolver, 0.5, "half");
        CHECK(comes_true([&] { return calls > 0 && last == 0.5; }));
        work.resolver.resolve(1);
    } else {
        work.resolver.resolve(1);
    }
}
template <class T> void names(const vow::promise<T> &named) {
    if constexpr (vow::has_labels)
        vow::set_label(named, "a name");
}
} // namespace

TEST("who listens hears how far the work has come, where the library tells it") {
    const auto work = vow::pending<int>();
    listens_to_progress(work);
    names(work.promise);
    CHECK_EQ(work.promise.get(), 1);
}
