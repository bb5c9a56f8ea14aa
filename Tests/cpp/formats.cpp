// std::format, where the standard library has it.
#include "harness.hpp"

#if __has_include(<format>)
#include <version>
#endif

#if defined(__cpp_lib_format)

#include <vow/format.hpp>

namespace {
struct own_error : vow::error {
    own_error() : vow::error("own", 3, "mine") {
    }
};
} // namespace

TEST("promises, errors, values, outcomes, states and codes are formatted as strings are") {
    const auto p = vow::fulfilled(42);
    CHECK_EQ(std::format("[{:>14}] [{:.4}]", p, p), "[ fulfilled: 42] [fulf]");
    CHECK_EQ(std::format("{}", vow::shield(p)), "fulfilled: 42");
    CHECK_EQ(std::format("{}", own_error()), "error own 3: mine");
    CHECK_EQ(std::format("{}", vow::timed_out()), "error vow -7 (VOW_ETIMEDOUT): timed out");
    CHECK_EQ(std::format("{}", vow::value::of(std::string("s"))), "\"s\"");
    CHECK_EQ(std::format("{}", *p.peek()), "42");
    CHECK_EQ(std::format("{:*^9}", vow::state::pending), "*pending*");
    CHECK_EQ(std::format("{}", vow::errc::cycle), "VOW_ECYCLE");
}

#endif
