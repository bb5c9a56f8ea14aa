/// What must not throw, and does: the process ends, with a sentence that says where.
#ifndef VOW_ENDING_HPP
#define VOW_ENDING_HPP

#include "config.hpp"

#include <cstdio>
#include <exception>
#include <type_traits>

namespace vow {
inline namespace v1 {
namespace detail {

/// Says what threw the exception that is being handled, and ends the process.
[[noreturn, gnu::cold, gnu::noinline]] inline void end_because_thrown(const char *what) noexcept {
    try {
        throw;
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "vow: %s threw an exception: %s\n", what, exception.what());
    } catch (...) {
        std::fprintf(stderr, "vow: %s threw an exception\n", what);
    }
    std::terminate();
}

/// Calls a function that C calls: nothing is thrown through C.
template <class Body> decltype(auto) must_not_throw(const char *what, Body &&body) noexcept {
    try {
        return body();
    } catch (...) {
        end_because_thrown(what);
    }
}

/// Deletes what the program has given to the library.
template <class T> void destroy_content(T *content) noexcept {
    if constexpr (std::is_nothrow_destructible_v<T>)
        delete content;
    else
        must_not_throw("the destructor of a capture or a value", [&] { delete content; });
}

/// The same, as C calls it.
template <class T> void destroy_context(void *context) noexcept {
    destroy_content(static_cast<T *>(context));
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
