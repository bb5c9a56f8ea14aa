/// What a catch clause does, without a throw: finds an exception by its type, and handles it.
///
/// A throw costs ten thousand instructions, and what a rejection is of is known without one. Where
/// the runtime is libstdc++, its own test says whether a clause would catch an exception, and a
/// clause is entered as it is entered after a throw: `throw;` and std::current_exception() find
/// the exception there. Elsewhere, and without RTTI, exceptions are thrown and caught.
#ifndef VOW_CLAUSE_HPP
#define VOW_CLAUSE_HPP

#include "config.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>
#if defined(__GLIBCXX__) && defined(__cpp_rtti) && defined(__LP64__)
#include <cxxabi.h>
#include <typeinfo>
#include <unwind.h>
#endif

namespace vow {
inline namespace v1 {
namespace detail {

/// Throws an exception and calls `use` with it in a clause for `const E &` (void: for all, and
/// without an argument). False: the clause does not catch it.
template <class E, class Use>
bool in_clause_by_throw(const std::exception_ptr &exception, Use &&use) {
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

/// An exception that is being handled, as libstdc++ lists it when a std::exception_ptr was thrown:
/// __cxa_dependent_exception.
struct handled_exception {
    std::exception_ptr primary;
    void (*padding)(void *);
    void (*unexpected)();
    std::terminate_handler terminate;
    void *next;
    int handlers;
    int switch_value;
    const unsigned char *action;
    const unsigned char *language_data;
    std::uintptr_t catch_temp;
    void *adjusted;
    _Unwind_Exception unwind;

    /// Those that a thread is handling, innermost first. As the ABI has it.
    struct globals {
        handled_exception *first;
        unsigned int uncaught;
    };
    static globals &here() noexcept {
        return *reinterpret_cast<globals *>(abi::__cxa_get_globals());
    }
};

/// One that was thrown, seen while it was handled: what the others are copies of. If it is not as
/// expected, the runtime is another one.
class thrown_once {
  public:
    thrown_once() noexcept {
        struct probe {};
        const std::exception_ptr thrown = std::make_exception_ptr(probe());
        in_clause_by_throw<void>(thrown, [&] { look_at(thrown); });
    }
    [[nodiscard]] bool is_as_expected() const noexcept {
        return is_as_expected_;
    }
    /// Makes one of an exception, in memory (zeroed) of the runtime's.
    void copy_to(void *memory, const std::exception_ptr &exception) const noexcept {
        auto *const copy = static_cast<handled_exception *>(memory);
        copy->unexpected = unexpected_;
        copy->terminate = std::get_terminate();
        copy->unwind.exception_class = class_;
        copy->unwind.exception_cleanup = cleanup_;
        std::memcpy(&copy->adjusted, static_cast<const void *>(&exception), sizeof copy->adjusted);
        new (static_cast<void *>(&copy->primary)) std::exception_ptr(exception);
    }

  private:
    void look_at(const std::exception_ptr &thrown) noexcept {
        const handled_exception *const seen = handled_exception::here().first;
        void *object = nullptr;
        std::memcpy(&object, static_cast<const void *>(&thrown), sizeof object);
        unexpected_ = seen->unexpected;
        class_ = seen->unwind.exception_class;
        cleanup_ = seen->unwind.exception_cleanup;
        constexpr std::uint64_t dependent = 0x474e5543432b2b01; // "GNUCC++" and 1
        is_as_expected_ = class_ == dependent && cleanup_ != nullptr && seen->primary == thrown &&
                          seen->adjusted == object && seen->handlers == 1 &&
                          seen->terminate == std::get_terminate();
    }

    bool is_as_expected_ = false;
    void (*unexpected_)() = nullptr;
    _Unwind_Exception_Class class_ = 0;
    _Unwind_Exception_Cleanup_Fn cleanup_ = nullptr;
};
VOW_OF_EACH_OBJECT inline const thrown_once &how_it_is_handled() noexcept {
    static const thrown_once once;
    return once;
}

/// A clause that an exception is handled in, as long as this lives.
class clause {
  public:
    explicit clause(const std::exception_ptr &exception) noexcept {
        auto *const handled =
            reinterpret_cast<handled_exception *>(abi::__cxa_allocate_dependent_exception());
        how_it_is_handled().copy_to(handled, exception);
        // As a throw leaves it to the clause that catches it.
        handled_exception::here().uncaught++;
        abi::__cxa_begin_catch(&handled->unwind);
    }
    clause(const clause &) = delete;
    clause &operator=(const clause &) = delete;
    ~clause() {
        abi::__cxa_end_catch();
    }
};

/// The same as with_exception, and `use` is the body of the clause.
template <class E, class Use> bool in_clause(const std::exception_ptr &exception, Use &&use) {
    if (!how_it_is_handled().is_as_expected())
        return in_clause_by_throw<E>(exception, std::forward<Use>(use));
    return with_exception<E>(exception, [&](const auto &...found) {
        const clause entered(exception);
        use(found...);
    });
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
