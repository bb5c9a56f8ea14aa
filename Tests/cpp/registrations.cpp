// Functions that are registered for as long as a registration lives.
#include "harness.hpp"

#include <optional>
#include <thread>

TEST("a registration leaves at its end, and what it captured is destroyed") {
    const vow::cancel_source source;
    int told = 0;
    {
        const auto kept = source.token().register_on_cancel([&told, t = tracked()] { told++; });
        CHECK(kept.stage() == vow::stage::waiting);
    }
    source.cancel();
    CHECK_EQ(told, 0);
}

TEST("it is called while the registration lives; leaving again says so") {
    const vow::cancel_source source;
    int told = 0;
    auto kept = source.token().register_on_cancel([&told, t = tracked()] { told++; });
    source.cancel();
    CHECK_EQ(told, 1);
    CHECK(kept.stage() == vow::stage::has_run);
    CHECK(kept.leave() == vow::stage::has_run);
}

TEST("a producer's registration leaves, moves and stays") {
    auto [p, r] = vow::pending<int>();
    int told = 0, left = 0, stayed = 0;
    auto first = r.register_on_cancel([&] { told++; });
    vow::registration moved = std::move(first);
    CHECK(first.leave() == vow::stage::never_runs);
    auto second = r.register_on_cancel([&, t = tracked()] { left++; });
    second = vow::registration();
    auto third = r.register_on_cancel([&, t = tracked()] { stayed++; });
    third.stay();
    CHECK(third.native() == nullptr);
    CHECK(p.cancel());
    CHECK_EQ(told, 1);
    CHECK_EQ(left, 0);
    CHECK_EQ(stayed, 1);
}

TEST("a function may end its own registration") {
    const vow::cancel_source source;
    std::optional<vow::registration> own;
    vow::stage inside = vow::stage::waiting;
    own = source.token().register_on_cancel([&] {
        inside = own->leave();
        own.reset();
    });
    source.cancel();
    CHECK(inside == vow::stage::running);
    CHECK(!own.has_value());
}

TEST("nothing to register with is an error, and destroys the function") {
    CHECK_THROWS(vow::error, (void)vow::token().register_on_cancel([t = tracked()] {}));
    CHECK_THROWS(vow::error, (void)vow::resolver<int>().register_on_cancel([t = tracked()] {}));
}

TEST("a linked source lives by its token") {
    const vow::cancel_source parent;
    const vow::token kept = vow::cancel_source::linked({parent.token()}).token();
    int told = 0;
    kept.on_cancel([&told, t = tracked()] { told++; });
    CHECK_EQ(told, 0);
    parent.cancel();
    CHECK_EQ(told, 1);
    CHECK(kept.is_cancelled());
}

TEST("progress of the running handler is its promise's") {
    auto [inner, r] = vow::pending<int>();
    vow::options here;
    here.executor = vow::pool_executor();
    auto [p, first] = vow::pending<int>();
    std::atomic<bool> heard{false};
    auto derived = p.then(
        [wait = inner]() mutable {
            vow::set_current_progress(0.5, "half");
            return wait;
        },
        here);
    const auto listens =
        vow::on_progress(derived, 0ms, [&](double fraction, std::string_view note) {
            heard = fraction == 0.5 && note == "half";
        });
    first.resolve(1);
    while (!heard)
        std::this_thread::yield();
    r.resolve(2);
    CHECK_EQ(derived.get(), 2);
    vow::set_current_progress(0.5);
}
