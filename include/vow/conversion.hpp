/// A number of another type than the promise's: nothing of it is lost.
#ifndef VOW_CONVERSION_HPP
#define VOW_CONVERSION_HPP

#include "error.hpp"

#include <limits>
#include <type_traits>

namespace vow {
inline namespace v1 {
namespace detail {

/// checked: an int or a char may be a literal, of which nobody says for which type it is meant.
/// Whether it fits is seen where it is converted.
enum class conversion { lossless, checked, lossy };

template <class From, class To> constexpr conversion conversion_of() {
    using from = std::numeric_limits<From>;
    using to = std::numeric_limits<To>;
    constexpr bool may_be_literal =
        std::is_same_v<From, int> || std::is_same_v<From, char> || std::is_enum_v<From>;
    if (std::is_same_v<From, To> || !std::is_arithmetic_v<To>)
        return conversion::lossless;
    if (!std::is_arithmetic_v<From> && !std::is_enum_v<From>)
        // A class has said what it is converted to.
        return std::is_pointer_v<From> ? conversion::lossy : conversion::lossless;
    if (std::is_floating_point_v<From>)
        return std::is_floating_point_v<To> && from::digits <= to::digits &&
                       from::max_exponent <= to::max_exponent
                   ? conversion::lossless
                   : conversion::lossy;
    if (!std::is_enum_v<From> && from::digits <= to::digits && (to::is_signed || !from::is_signed))
        return conversion::lossless;
    return may_be_literal ? conversion::checked : conversion::lossy;
}

/// As a To, as an implicit conversion makes it; but what may lose a part of a number is refused.
/// Throws vow::error (errc::invalid_argument): a literal that does not fit.
template <class To, class From> To converted(From &&from) {
    using plain = std::decay_t<From>;
    constexpr conversion how = conversion_of<plain, To>();
    static_assert(how != conversion::lossy,
                  "this conversion may lose a part of the number: write static_cast if it may");
    if constexpr (how == conversion::checked) {
        const To to = static_cast<To>(from);
        bool fits = false;
        if constexpr (std::is_floating_point_v<To> || std::is_same_v<To, bool>)
            fits = static_cast<double>(to) == static_cast<double>(from);
        else
            fits = static_cast<plain>(to) == from && (to < To{}) == (from < plain{});
        if (!fits)
            throw error(errc::invalid_argument,
                        "the number does not fit into the type of the promise");
        return to;
    } else {
        return To(std::forward<From>(from));
    }
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
