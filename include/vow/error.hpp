/// Why a promise is rejected, as exceptions.
#ifndef VOW_ERROR_HPP
#define VOW_ERROR_HPP

#include "value.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <vector>

namespace vow {
inline namespace v1 {

/// The codes of the library's own errors, domain "vow".
enum class errc : std::int64_t {
    invalid_argument = VOW_EINVAL,
    not_enough_memory = VOW_ENOMEM,
    forked = VOW_EFORKED,
    broken_promise = VOW_EBROKEN,
    cycle = VOW_ECYCLE,
    cancelled = VOW_ECANCELLED,
    timed_out = VOW_ETIMEDOUT,
    deadlock = VOW_EDEADLOCK,
    aggregate = VOW_EAGGREGATE,
    shut_down = VOW_ESHUTDOWN,
    no_error = VOW_EREASON,
};

namespace detail {
/// A borrowed C error: exceptions are made of it without anything to clean up.
struct borrowed_error {
    const vow_value &native;
};
} // namespace detail

// Visible outside, so that an exception of one shared object is caught by another.
#pragma GCC visibility push(default)

/// A rejection that did not begin as a C++ exception; or one that a program throws to be read by C:
/// domain, code, message and a payload. Copying retains.
class error : public std::exception {
  public:
    error(const char *domain, std::int64_t code, const char *message)
        : native_(value::adopt(vow_error(domain, code, message))) {
    }
    error(const char *domain, std::int64_t code, const char *message, value payload)
        : native_(value::adopt(vow_error_wrap(domain, code, message, payload.release()))) {
    }
    /// One of the library's own domain.
    explicit error(errc code, const char *message = nullptr)
        : error("vow", static_cast<std::int64_t>(code),
                message != nullptr ? message : vow_error_name(static_cast<std::int64_t>(code))) {
    }
    /// Wraps a C value, which is an error.
    explicit error(value native) noexcept : native_(std::move(native)) {
    }
    explicit error(detail::borrowed_error from) noexcept : native_(value::borrow(from.native)) {
    }

    [[nodiscard]] const char *domain() const noexcept {
        return vow_error_domain(native_.native());
    }
    [[nodiscard]] std::int64_t code() const noexcept {
        return vow_error_code(native_.native());
    }
    /// Whether it is the library's own error of this code.
    [[nodiscard]] bool is(errc code) const noexcept {
        return std::string_view(domain()) == "vow" &&
               this->code() == static_cast<std::int64_t>(code);
    }
    /// The error as the standard has it: in the domains "vow" (vow::category()), "generic" and
    /// "system"; in other domains there is none.
    [[nodiscard]] std::optional<std::error_code> error_code() const noexcept;
    /// The message; lives as long as the error or a copy of it.
    [[nodiscard]] const char *what() const noexcept override {
        const char *message = vow_error_message(native_.native());
        return message != nullptr ? message : "";
    }
    [[nodiscard]] value payload() const noexcept {
        return value::borrow(vow_error_payload(native_.native()));
    }
    /// Which member of a combined promise failed.
    [[nodiscard]] std::optional<std::size_t> index() const noexcept {
        const std::int64_t place = vow_error_index(native_.native());
        return place >= 0 ? std::optional<std::size_t>(static_cast<std::size_t>(place))
                          : std::nullopt;
    }
    /// How many attempts retry made; 0 if it was not retry that gave up.
    [[nodiscard]] std::int64_t attempts() const noexcept {
        return vow_error_attempts(native_.native());
    }
    /// The same without objects and promises in its payload, see vow_error_plain.
    [[nodiscard]] error plain() const noexcept {
        return error(value::adopt(vow_error_plain(native_.native())));
    }
    /// The C value, a VOW_ERROR, borrowed.
    [[nodiscard]] vow_value native() const noexcept {
        return native_.native();
    }

  private:
    value native_;
};

/// The promise was cancelled. payload() is the reason.
class cancelled : public error {
  public:
    cancelled() : error(errc::cancelled, "cancelled") {
    }
    explicit cancelled(detail::borrowed_error from) noexcept : error(from) {
    }
};

/// The time is up.
class timed_out : public error {
  public:
    timed_out() : error(errc::timed_out, "timed out") {
    }
    explicit timed_out(detail::borrowed_error from) noexcept : error(from) {
    }
};

/// The last resolver was dropped without resolving.
class broken_promise : public error {
  public:
    explicit broken_promise(detail::borrowed_error from) noexcept : error(from) {
    }
};

/// Several failed: any, some.
class aggregate_error : public error {
  public:
    explicit aggregate_error(detail::borrowed_error from) noexcept : error(from) {
    }
    /// The failure of each promise.
    [[nodiscard]] std::vector<std::exception_ptr> errors() const;
};

#pragma GCC visibility pop

} // namespace v1
} // namespace vow

#endif
