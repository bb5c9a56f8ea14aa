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

TEST("codes of the library are the library's errors, and its errors have codes") {
    CHECK_THROWS(vow::timed_out, vow::rejected<int>(vow::errc::timed_out).get());
    const std::error_code code = vow::errc::cancelled;
    CHECK(code == std::errc::operation_canceled);
    CHECK_EQ(code.message(), "VOW_ECANCELLED");
    CHECK_THROWS(vow::cancelled, vow::rejected<int>(code).get());
    CHECK(vow::timed_out().error_code() == std::errc::timed_out);
    CHECK(vow::error("generic", ENOENT, "no").error_code() == std::errc::no_such_file_or_directory);
    CHECK(vow::error("system", ENOENT, "no").error_code()->category() == std::system_category());
    CHECK(!vow::error("http", 404, "no").error_code());
    CHECK(!vow::error("system", std::int64_t{1} << 40, "no").error_code());
}

TEST("a handler of a std::error_code is for what is or has one") {
    const auto value = [](std::error_code code) { return code.value(); };
    CHECK_EQ(vow::rejected<int>(std::errc::io_error).recover(value).get(), EIO);
    CHECK_EQ(vow::rejected<int>(vow::timed_out()).recover(value).get(), VOW_ETIMEDOUT);
    CHECK_EQ(vow::rejected<int>(vow::error("system", 5, "of C")).recover(value).get(), 5);
    const auto thrown =
        vow::async([]() -> int { throw std::make_error_code(std::errc::io_error); });
    CHECK_EQ(thrown.recover(value).get(), EIO);
    CHECK_EQ(vow::rejected<int>(vow::timed_out())
                 .recover([](const std::error_code &code) noexcept { return code.value(); })
                 .get(),
             VOW_ETIMEDOUT);
    CHECK_THROWS(std::logic_error,
                 vow::rejected<int>(std::logic_error("no code")).recover(value).get());
    CHECK_THROWS(vow::error, vow::rejected<int>(vow::error("http", 404, "x")).recover(value).get());
    CHECK_THROWS(
        vow::timed_out,
        vow::rejected<int>(vow::timed_out()).recover([](std::error_code) -> int { throw; }).get());
}
