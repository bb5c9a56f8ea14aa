// Error codes of <system_error> as reasons.
#include "harness.hpp"

#include <future>
#include <system_error>

namespace {

template <class T> bool is_caught_as_exception(const vow::promise<T> &p) {
    try {
        p.get();
    } catch (const std::exception &) {
        return true;
    } catch (...) {
    }
    return false;
}

} // namespace

TEST("a promise that is rejected with an error code throws a std::system_error") {
    const auto code = std::make_error_code(std::errc::no_such_file_or_directory);
    CHECK(is_caught_as_exception(vow::rejected<int>(code)));
    CHECK(CHECK_THROWS(std::system_error, vow::rejected<int>(code).get())->code() == code);
    CHECK(CHECK_THROWS(std::system_error, vow::rejected<int>(std::errc::timed_out).get())->code() ==
          std::errc::timed_out);
    auto both = vow::pending<int>();
    both.resolver.reject(std::make_error_code(std::future_errc::broken_promise));
    CHECK(CHECK_THROWS(std::system_error, both.promise.get())->code() ==
          std::future_errc::broken_promise);
    auto other = vow::pending<int>();
    other.resolver.reject(std::future_errc::no_state);
    CHECK(is_caught_as_exception(other.promise));
}

TEST("C reads its category as the domain, and its number as the code") {
    const auto p =
        vow::async([]() -> int { throw std::system_error(ENOENT, std::generic_category()); });
    p.wait();
    vow_value native;
    CHECK(vow_promise_peek(p.native(), &native));
    CHECK_EQ(vow_error_domain(native), std::string("generic"));
    CHECK_EQ(vow_error_code(native), ENOENT);
    CHECK_EQ(p.recover("generic", ENOENT, [] { return 4; }).get(), 4);
}
