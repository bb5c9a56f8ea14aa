/// What a catch clause does: finds an exception by its type, and handles it.
///
/// Where the runtime is libstdc++, its own test says without a throw whether a clause would catch
/// an exception. The body of a clause, where `throw;` and std::current_exception() find the
/// exception, is entered by a throw: that takes most of a microsecond, and the ABI has no other
/// way.
#ifndef VOW_CLAUSE_HPP
#define VOW_CLAUSE_HPP

#include "config.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>
#if defined(__GLIBCXX__) && defined(__cpp_rtti) && defined(__LP64__)
#include <typeinfo>
#endif

namespace vow {
inline namespace v1 {
namespace detail {

/// Throws an exception and calls `use` with it in a clause for `const E &` (void: for all, and
/// without an argument). False: the clause does not catch it.
template <class E, class Use>
[[gnu::noinline]] bool in_clause_by_throw(const std::exception_ptr &exception, Use &&use) {
    if constexpr (std::is_void_v<E>) {
        try {
            std::rethrow_exception(exception);
        } catch (...) {
            use();
            return true;
        }
    } else {
        // A pointer is caught as a value: clang looks for one that was thrown by an exception_ptr
        // in the wrong place.
        using parameter = std::conditional_t<std::is_pointer_v<E>, E, const E &>;
        try {
            std::rethrow_exception(exception);
        } catch (parameter found) {
            use(found);
            return true;
        } catch (...) {
            return false;
        }
    }
}

#if defined(__GLIBCXX__) && defined(__cpp_rtti) && defined(__LP64__)

/// Calls `use` with an exception (not empty) if a clause for `const E &` (void: for all, and
/// without an argument) catches it.
template <class E, class Use> bool with_exception(const std::exception_ptr &exception, Use &&use) {
    if constexpr (std::is_void_v<E>) {
        use();
        return true;
    } else {
        static_assert(sizeof exception == sizeof(void *), "it is a pointer to the exception");
        void *found = nullptr;
        std::memcpy(&found, static_cast<const void *>(&exception), sizeof found);
        const std::type_info *const thrown = exception.__cxa_exception_type();
        if (thrown->__is_pointer_p())
            std::memcpy(&found, found, sizeof found);
        if (!typeid(E).__do_catch(thrown, &found, 1))
            return false;
        if constexpr (std::is_pointer_v<E>)
            use(reinterpret_cast<E>(found));
        else
            use(*static_cast<const E *>(found));
        return true;
    }
}

/// The same as with_exception, and `use` is the body of the clause. What passes by is not thrown.
template <class E, class Use> bool in_clause(const std::exception_ptr &exception, Use &&use) {
    return with_exception<E>(exception, [](const auto &...) {}) &&
           in_clause_by_throw<E>(exception, std::forward<Use>(use));
}

#else

template <class E, class Use> bool with_exception(const std::exception_ptr &exception, Use &&use) {
    return in_clause_by_throw<E>(exception, std::forward<Use>(use));
}
template <class E, class Use> bool in_clause(const std::exception_ptr &exception, Use &&use) {
    return in_clause_by_throw<E>(exception, std::forward<Use>(use));
}

#endif

/// An object as an exception. Where it need not be thrown, it is not.
template <class E> std::exception_ptr exception_ptr_of(E &&exception) noexcept {
    using plain = std::decay_t<E>;
    try {
        if constexpr (std::is_copy_constructible_v<plain>)
            return std::make_exception_ptr<plain>(std::forward<E>(exception));
        else
            throw std::forward<E>(exception);
    } catch (...) {
        return std::current_exception();
    }
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
