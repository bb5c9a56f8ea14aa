// What is written of promises, errors and values.
#include "harness.hpp"

namespace {
template <class T> std::string written(const T &of) {
    std::ostringstream out;
    out << of;
    return out.str();
}
} // namespace

TEST("operator<< writes values, errors, outcomes, states and codes") {
    CHECK_EQ(written(vow::value::of(std::string("a"))), "\"a\"");
    CHECK_EQ(written(vow::timed_out()), "error vow -7 (VOW_ETIMEDOUT): timed out");
    CHECK_EQ(written(vow::error("http", 404, "no")), "error http 404: no");
    CHECK_EQ(written(*vow::fulfilled(3).peek()), "3");
    CHECK_EQ(written(*vow::rejected<int>(vow::error("http", 404, "no")).peek()),
             "error http 404: no");
    CHECK_EQ(written(vow::state::pending), "pending");
    CHECK_EQ(written(vow::stage::has_run), "has run");
    CHECK_EQ(written(vow::errc::cycle), "VOW_ECYCLE");
}

TEST("a promise is written as its state and its value") {
    auto [pending, resolver] = vow::pending<int>();
    CHECK_EQ(written(pending), "pending");
    resolver.resolve(3);
    CHECK_EQ(written(pending), "fulfilled: 3");
    CHECK_EQ(written(vow::fulfilled()), "fulfilled");
    CHECK_EQ(written(vow::shield(vow::fulfilled(4))), "fulfilled: 4");
    CHECK_EQ(written(vow::promise<int>()), "no promise");
}

TEST("writing a rejected promise handles no rejection") {
    static std::atomic<int> unhandled{0};
    vow::on_unhandled([](std::exception_ptr) { unhandled++; });
    {
        const auto p = vow::rejected<int>(std::logic_error("seen by nobody"));
        CHECK_EQ(written(p), "rejected");
    }
    CHECK_EQ(unhandled.load(), 1);
    vow::on_unhandled(nullptr);
}
