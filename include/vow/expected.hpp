/// std::expected as an outcome, both ways: C++23.
///
/// A handler or a coroutine that returns a `std::expected<T, E>` settles a `promise<T>` by it, and
/// so does resolver::resolve. The E is a reason as resolver::reject takes it, where it is one: an
/// exception, a std::exception_ptr, an error code. Any other E is thrown as what
/// std::expected::value throws, a std::bad_expected_access<E>.
#ifndef VOW_EXPECTED_HPP
#define VOW_EXPECTED_HPP

#include "scalars.hpp"

#if __has_include(<expected>) && __cplusplus > 202002L
#include <expected>
#endif

namespace vow {
inline namespace v1 {
namespace detail {

template <class R> struct is_expected : std::false_type {};

/// Whether a `promise<T>` that is given an R is settled by it; else the R is its value.
template <class R, class T>
inline constexpr bool settles_by =
    is_expected<std::decay_t<R>>::value && !std::is_same_v<std::decay_t<R>, T>;

#if defined(__cpp_lib_expected)

template <class T, class E> struct is_expected<std::expected<T, E>> : std::true_type {};
template <class T, class E>
struct is_shareable<std::expected<T, E>> : std::conjunction<is_shareable<T>, is_shareable<E>> {};

/// Whether an E is a reason by itself.
template <class E>
inline constexpr bool is_reason =
    std::is_same_v<E, std::exception_ptr> || std::is_base_of_v<std::exception, E> ||
    std::is_same_v<E, std::error_code> || std::is_error_code_enum_v<E> ||
    std::is_same_v<E, std::errc>;

/// The outcome (owned) of a `promise<C>` that is settled by a std::expected.
template <class C, class T, class E> vow_value write_expected(std::expected<T, E> from) {
    if (!from.has_value()) {
        if constexpr (is_reason<E>)
            return error_of_exception(std::move(from).error());
        else
            return error_of_exception(std::bad_expected_access<E>(std::move(from).error()));
    }
    if constexpr (std::is_void_v<C> || std::is_void_v<T>) {
        static_assert(std::is_void_v<C>, "what is expected here is no value of the promise");
        return vow_none();
    } else {
        static_assert(std::is_convertible_v<T, C>,
                      "what is expected here is no value of the promise");
        return value_traits<C>::write(converted<C>(*std::move(from)));
    }
}

/// The E that a rejection is (borrowed), if it is one.
template <class E> std::optional<E> reason_as(vow_value native) {
    std::optional<E> reason;
    if constexpr (std::is_same_v<E, std::exception_ptr>) {
        reason = exception_of(native);
    } else if constexpr (std::is_same_v<E, std::error_code>) {
        reason = code_of(native);
    } else if constexpr (std::is_error_code_enum_v<E>) {
        const std::optional<std::error_code> code = code_of(native);
        if (code && code->category() == make_error_code(E()).category())
            reason = static_cast<E>(code->value());
    } else if constexpr (std::is_same_v<E, std::errc>) {
        // The portable code for a comparison, if there is one.
        const std::optional<std::error_code> code = code_of(native);
        if (code && code->default_error_condition().category() == std::generic_category())
            reason = static_cast<std::errc>(code->default_error_condition().value());
    } else {
        const std::exception_ptr exception = exception_of(native);
        const auto keep = [&](const E &found) { reason = found; };
        if (!with_exception<E>(exception, keep) && !is_reason<E>)
            with_exception<std::bad_expected_access<E>>(
                exception,
                [&](const std::bad_expected_access<E> &found) { reason = found.error(); });
    }
    return reason;
}

/// An outcome as a std::expected. Throws a rejection that is no E.
template <class T, class E> std::expected<T, E> expected_of(value held) {
    if (held.is_error()) {
        if (std::optional<E> reason = reason_as<E>(held.native()))
            return std::unexpected<E>(*std::move(reason));
        throw_error(held.native());
    }
    if constexpr (std::is_void_v<T>)
        return {};
    else
        return std::expected<T, E>(std::in_place, read<reading::last, T>(std::move(held)));
}

#else

template <class C, class R> vow_value write_expected(R &&) = delete;

#endif

} // namespace detail
} // namespace v1
} // namespace vow

#endif
