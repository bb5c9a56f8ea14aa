/// Numbers, enumerations and pointers, which are values of C by themselves; and numbers of another
/// type than the promise's, of which nothing is lost.
#ifndef VOW_SCALARS_HPP
#define VOW_SCALARS_HPP

#include "traits.hpp"

namespace vow {
inline namespace v1 {

template <> struct value_traits<bool> {
    static vow_value write(bool content) noexcept {
        return vow_bool(content);
    }
    static bool read(vow_value native) {
        if (native.kind != VOW_BOOL)
            detail::throw_mismatch(native, "bool");
        return native.as.boolean;
    }
};

namespace detail {

/// Whether the value is a number of C or C++; eight bytes of Swift's are none.
inline bool is_number(vow_value native) noexcept {
    return native.kind == VOW_INT &&
           (native.reserved == 0 || (native.reserved & written_by_cpp) != 0);
}

} // namespace detail

/// VOW_INT. All of 64 unsigned bits are kept: C sees them as a signed number.
template <class T>
struct value_traits<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
    static_assert(sizeof(T) <= sizeof(std::int64_t), "wider than the numbers that C can read");

    static vow_value write(T content) noexcept {
        return vow_int(static_cast<std::int64_t>(content));
    }
    static T read(vow_value native) {
        if (!detail::is_number(native))
            detail::throw_mismatch(native, "whole number");
        const auto narrow = static_cast<T>(native.as.integer);
        if (static_cast<std::int64_t>(narrow) != native.as.integer)
            detail::throw_mismatch(native, "number that fits into this type");
        return narrow;
    }
};

/// Which numbers are values of an enumeration. To be specialised by programs that read what C or
/// Swift has written, with a function:
///
///     template <> struct vow::enumeration<color> {
///         static constexpr bool has(std::int64_t number) { return number >= 0 && number < 3; }
///     };
///
/// Without the function, only a value that was written as this enumeration is read as one: another
/// number may be no case. With it, numbers that are no case are refused, even if they were written
/// as this enumeration.
template <class E> struct enumeration {};

/// VOW_INT, which knows of which enumeration it is.
template <class T> struct value_traits<T, std::enable_if_t<std::is_enum_v<T>>> {
    using underlying = value_traits<std::underlying_type_t<T>>;

    static vow_value write(T content) noexcept {
        vow_value written = underlying::write(static_cast<std::underlying_type_t<T>>(content));
        if (written.kind == VOW_INT)
            written.reserved = detail::record_of<T>().tag;
        return written;
    }
    static T read(vow_value native) {
        if (!is_one(native, 0))
            detail::throw_mismatch(native, "value of this enumeration");
        return static_cast<T>(underlying::read(native));
    }

  private:
    template <class E = T>
    static auto is_one(vow_value native, int) -> decltype(enumeration<E>::has(std::int64_t())) {
        return is_written(native) &&
               enumeration<E>::has(native.kind == VOW_BOOL ? native.as.boolean : native.as.integer);
    }
    /// A value of an enumeration of bool is known only by its type.
    static bool is_one(vow_value native, long) noexcept {
        return is_written(native) && (native.kind == VOW_BOOL || native.reserved != 0);
    }
    static bool is_written(vow_value native) noexcept {
        if (native.kind == VOW_BOOL)
            return std::is_same_v<std::underlying_type_t<T>, bool>;
        return native.kind == VOW_INT &&
               (native.reserved == 0 || native.reserved == detail::record_of<T>().tag);
    }
};

/// VOW_DOUBLE, for float and double; a long double is an object. A float is the nearest one, if
/// there is one.
template <class T>
struct value_traits<T,
                    std::enable_if_t<std::is_floating_point_v<T> && sizeof(T) <= sizeof(double)>> {
    static vow_value write(T content) noexcept {
        return vow_double(static_cast<double>(content));
    }
    static T read(vow_value native) {
        if (native.kind != VOW_DOUBLE)
            detail::throw_mismatch(native, "floating-point number");
        const double real = native.as.real;
        constexpr double largest = std::numeric_limits<T>::max();
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if ((real > largest && real < infinity) || (real < -largest && real > -infinity))
            detail::throw_mismatch(native, "number that fits into this type");
        return static_cast<T>(real);
    }
};

/// VOW_POINTER, without an owner, which knows its type: it is read as the written pointer, to the
/// same type or to a const one. Nothing is known of one that C has written, or that was a void *;
/// as a void * all can be read.
template <class T> struct value_traits<T *, std::enable_if_t<!std::is_function_v<T>>> {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, char>,
                  "a promise outlives the characters: carry a std::string");

    static vow_value write(T *content) noexcept {
        vow_value written =
            vow_pointer(const_cast<void *>(static_cast<const volatile void *>(content)));
        if constexpr (!std::is_void_v<T>)
            written.reserved = detail::record_of<T *>().tag;
        return written;
    }
    static T *read(vow_value native) {
        if (native.kind != VOW_POINTER)
            detail::throw_mismatch(native, "pointer");
        if (!is_one(native.reserved))
            detail::throw_mismatch(native, "pointer to this type: cast where its type is known");
        return static_cast<T *>(native.as.pointer);
    }

  private:
    using plain = std::remove_cv_t<T>;
    template <class Other> static bool is_to(std::uint32_t tag) noexcept {
        return std::is_convertible_v<Other *, T *> && tag == detail::record_of<Other *>().tag;
    }
    static bool is_one(std::uint32_t tag) noexcept {
        if constexpr (std::is_void_v<T>)
            return true;
        else
            return tag == 0 || is_to<T>(tag) || is_to<plain>(tag) || is_to<const plain>(tag) ||
                   is_to<volatile plain>(tag);
    }
};

namespace detail {

/// checked: an int or a char may be a literal, which has no hint at the type that it is meant for.
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
        // The class itself has the conversion.
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

/// The value as a To, by an implicit conversion; a conversion that may lose a part of a number is
/// refused. Throws vow::error (errc::invalid_argument): a literal that does not fit.
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
