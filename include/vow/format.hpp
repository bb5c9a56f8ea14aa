/// std::format of values, errors, promises, outcomes, states and codes: C++20. Not a part of
/// vow.hpp: `<format>` is not for nothing.
///
///     std::format("{:>20} after {} attempts", promise, error.attempts())
///
/// The text is vow::text's; the format is that of a string.
#ifndef VOW_FORMAT_HPP
#define VOW_FORMAT_HPP

#include "runtime.hpp"

#if !__has_include(<format>) || __cplusplus < 202002L
#error "vow/format.hpp needs C++20 and a standard library that has <format>"
#endif

#include <format>

#if !defined(__cpp_lib_format)
#error "vow/format.hpp needs a standard library that has std::format"
#endif

namespace std {

template <class T>
requires vow::detail::has_text<T>::value struct formatter<T, char> : formatter<string_view, char> {
    template <class Context> auto format(const T &of, Context &context) const {
        return formatter<string_view, char>::format(vow::text(of), context);
    }
};

} // namespace std

#endif
