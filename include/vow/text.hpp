/// What things are, for people: operator<<, and text(x), which vow/format.hpp gives to std::format.
///
/// For logs: what it says may change. Looking at a rejected promise in this way does not handle the
/// rejection, so why it is rejected is not said.
#ifndef VOW_TEXT_HPP
#define VOW_TEXT_HPP

#include "promise.hpp"
#include "shield.hpp"

#include <iosfwd>

namespace vow {
inline namespace v1 {

[[nodiscard]] inline std::string text(const value &content) {
    return content.describe();
}

/// Domain, code and message; of the library's own errors also the name of the code.
[[nodiscard]] inline std::string text(const error &why) {
    return value::borrow(why.native()).describe();
}

[[nodiscard]] inline std::string text(state now) {
    switch (now) {
    case state::pending:
        return "pending";
    case state::fulfilled:
        return "fulfilled";
    case state::rejected:
        return "rejected";
    }
    return "no state";
}

[[nodiscard]] inline std::string text(stage now) {
    switch (now) {
    case stage::waiting:
        return "waiting";
    case stage::running:
        return "running";
    case stage::has_run:
        return "has run";
    case stage::never_runs:
        return "never runs";
    }
    return "no stage";
}

[[nodiscard]] inline std::string text(errc code) {
    return vow_error_name(static_cast<std::int64_t>(code));
}

template <class T> [[nodiscard]] std::string text(const outcome<T> &of) {
    return value::borrow(of.native()).describe();
}

/// The state, and the value if there is one.
template <class T> [[nodiscard]] std::string text(const promise<T> &of) {
    if (!of)
        return "no promise";
    vow_value native = vow_none();
    if (of.state() != state::fulfilled || !vow_promise_peek(of.native(), &native) ||
        native.kind == VOW_NONE)
        return text(of.state());
    return "fulfilled: " + value::borrow(native).describe();
}

namespace detail {

/// Whether there is a text of a T of this library.
template <class T> struct has_text : std::is_base_of<error, T> {};
template <> struct has_text<value> : std::true_type {};
template <> struct has_text<state> : std::true_type {};
template <> struct has_text<stage> : std::true_type {};
template <> struct has_text<errc> : std::true_type {};
template <class T> struct has_text<outcome<T>> : std::true_type {};
template <class T> struct has_text<promise<T>> : std::true_type {};
template <class T> struct has_text<shielded<T>> : std::true_type {};

} // namespace detail

/// `std::cout << promise`, and of errors, values, outcomes, states and codes.
template <class Traits, class T, std::enable_if_t<detail::has_text<T>::value, int> = 0>
std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const T &of) {
    const std::string written = text(of);
    return out << std::basic_string_view<char, Traits>(written.data(), written.size());
}

} // namespace v1
} // namespace vow

#endif
