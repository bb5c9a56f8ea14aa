/// Errors of C and std::error_code: which code an error is, and which error a code is.
///
///     domain "vow"                        vow::category(), a code of vow::errc
///     domain "generic" or "system"        std::generic_category(), std::system_category()
///     what std::system_error was thrown   its own code
///
/// A code of another category goes into C as a std::system_error does: the category's name is the
/// domain. An error of another domain is no code.
#ifndef VOW_ERROR_CODE_HPP
#define VOW_ERROR_CODE_HPP

#include "exceptions.hpp"

#include <optional>
#include <system_error>

template <> struct std::is_error_code_enum<vow::errc> : std::true_type {};

namespace vow {
inline namespace v1 {
namespace detail {

class own_category final : public std::error_category {
  public:
    [[nodiscard]] const char *name() const noexcept override {
        return "vow";
    }
    [[nodiscard]] std::string message(int code) const override {
        return vow_error_name(code);
    }
    /// What portable code asks for: `code == std::errc::timed_out`.
    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        switch (code) {
        case VOW_EINVAL:
            return std::errc::invalid_argument;
        case VOW_ENOMEM:
            return std::errc::not_enough_memory;
        case VOW_ECANCELLED:
            return std::errc::operation_canceled;
        case VOW_ETIMEDOUT:
            return std::errc::timed_out;
        case VOW_EDEADLOCK:
            return std::errc::resource_deadlock_would_occur;
        default:
            return {code, *this};
        }
    }
};

} // namespace detail

/// The category of vow::errc; its name is the library's domain, "vow".
[[nodiscard]] VOW_SHARED_BY_OBJECTS const std::error_category &category() noexcept {
    // Never destroyed: codes are compared until the process ends.
    static const auto *const only = new detail::own_category;
    return *only;
}

/// So that `std::error_code code = vow::errc::timed_out` is one.
[[nodiscard]] inline std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), category()};
}

namespace detail {

/// The code that an error of C is (borrowed), by its domain.
inline std::optional<std::error_code> code_by_domain(vow_value native) noexcept {
    const char *const domain = vow_error_domain(native);
    const std::int64_t code = vow_error_code(native);
    if (domain == nullptr || code != static_cast<int>(code))
        return std::nullopt;
    for (const std::error_category *each :
         {&category(), &std::generic_category(), &std::system_category()})
        if (std::string_view(domain) == each->name())
            return std::error_code(static_cast<int>(code), *each);
    return std::nullopt;
}

/// The code that a rejection is (borrowed), if it is one.
inline std::optional<std::error_code> code_of(vow_value native) noexcept {
    const std::exception_ptr *const exception = carried_exception(native);
    if (exception == nullptr)
        return code_by_domain(native);
    std::optional<std::error_code> code;
    with_exception<std::system_error>(
        *exception, [&](const std::system_error &found) { code = found.code(); }) ||
        with_exception<std::error_code>(*exception,
                                        [&](const std::error_code &found) { code = found; }) ||
        with_exception<error>(*exception,
                              [&](const error &found) { code = code_by_domain(found.native()); });
    return code;
}

/// A code as an owned error: one of the library's own, or a std::system_error.
inline vow_value error_of_code(const std::error_code &code) noexcept {
    if (code.category() == category())
        return vow_error("vow", code.value(), vow_error_name(code.value()));
    return error_of(exception_ptr_of(std::system_error(code)));
}

/// An exception object as an owned error. What is or stands for an error code is one.
template <class E> vow_value error_of_exception(E &&exception) noexcept {
    using plain = std::decay_t<E>;
    static_assert(!std::is_same_v<plain, std::error_condition>,
                  "a condition stands for many codes: reject with a std::error_code");
    if constexpr (std::is_same_v<plain, std::exception_ptr>)
        return error_of(exception);
    else if constexpr (std::is_same_v<plain, std::error_code>)
        return error_of_code(exception);
    else if constexpr (std::is_error_code_enum_v<plain>)
        return error_of_code(make_error_code(exception));
    else if constexpr (std::is_same_v<plain, std::errc>)
        return error_of_code(std::make_error_code(exception));
    else
        return error_of(exception_ptr_of(std::forward<E>(exception)));
}

} // namespace detail

inline std::optional<std::error_code> error::error_code() const noexcept {
    return detail::code_by_domain(native());
}

} // namespace v1
} // namespace vow

#endif
