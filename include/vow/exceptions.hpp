/// Exceptions to rejections and back: the very exception comes out where it is read; and
/// std::error_code.
#ifndef VOW_EXCEPTIONS_HPP
#define VOW_EXCEPTIONS_HPP

#include "error.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

template <> struct std::is_error_code_enum<vow::errc> : std::true_type {};

namespace vow {
inline namespace v1 {
namespace detail {

// The work of a catch clause: it finds an exception by its type, and handles it.
//
// Where the runtime is libstdc++, its own test says without a throw whether a clause would catch
// an exception. The body of a clause, where `throw;` and std::current_exception() find the
// exception, is entered by a throw: that takes most of a microsecond, and the ABI has no other
// way.

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

/// The same as with_exception, with `use` as the body of the clause. An exception that passes by is
/// not thrown.
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

/// The domain of errors that carry a C++ exception; their code is 0, their payload the exception.
inline constexpr const char *exception_domain = "c++";

/// An exception in the payload of an error.
struct carried : object_head {
    std::exception_ptr exception;
    bool is_error; ///< derived from vow::error

    static void destroy(void *pointer) {
        destroy_content(static_cast<carried *>(static_cast<object_head *>(pointer)));
    }
};

VOW_OF_EACH_OBJECT inline const vow_class exception_class = {sizeof(vow_class), "C++ exception",
                                                             carried::destroy, nullptr};

/// An owned error that carries an exception.
inline vow_value wrap_exception(std::exception_ptr exception, const char *domain, std::int64_t code,
                                const char *message, bool is_error = false) noexcept {
    const type_record &type = record_of<carried>();
    auto *box = new (std::nothrow) carried{{&type}, std::move(exception), is_error};
    if (box == nullptr)
        return vow_error("vow", VOW_ENOMEM, "no memory to carry a C++ exception");
    vow_value payload = vow_object(static_cast<object_head *>(box), &exception_class);
    if (payload.kind == VOW_OBJECT)
        payload.reserved = type.tag;
    return vow_error_wrap(domain, code, message, payload);
}

/// Whether the C error says all there is: no type of the program derives from it. Without RTTI that
/// cannot be seen, and such an exception comes back as the vow::error it derives from.
inline bool is_of_library(const error &exception) noexcept {
#if defined(__cpp_rtti)
    const std::type_info &type = typeid(exception);
    return type == typeid(error) || type == typeid(cancelled) || type == typeid(timed_out) ||
           type == typeid(broken_promise) || type == typeid(aggregate_error);
#else
    static_cast<void>(exception);
    return true;
#endif
}

/// An exception as an owned error; an empty pointer is a wrong argument.
inline vow_value error_of(const std::exception_ptr &exception) noexcept {
    if (exception == nullptr)
        return vow_error("vow", VOW_EINVAL, "an empty std::exception_ptr is no reason");
    vow_value made = vow_none();
    with_exception<error>(exception,
                          [&](const error &found) {
                              made = is_of_library(found)
                                         ? vow_value_retain(found.native())
                                         : wrap_exception(exception, found.domain(), found.code(),
                                                          found.what(), true);
                          }) ||
        with_exception<std::system_error>(exception,
                                          [&](const std::system_error &found) {
                                              made = wrap_exception(
                                                  exception, found.code().category().name(),
                                                  found.code().value(), found.what());
                                          }) ||
        with_exception<std::bad_alloc>(exception,
                                       [&](const std::bad_alloc &found) {
                                           made = wrap_exception(exception, "vow", VOW_ENOMEM,
                                                                 found.what());
                                       }) ||
        with_exception<std::exception>(exception, [&](const std::exception &found) {
            made = wrap_exception(exception, exception_domain, 0, found.what());
        });
    if (made.kind == VOW_NONE)
        made = wrap_exception(exception, exception_domain, 0,
                              "an exception that is no std::exception");
    return made;
}

/// The exception being handled, as an owned error. Call it in a catch clause.
inline vow_value current_error() noexcept {
    if (const std::exception_ptr exception = std::current_exception())
        return error_of(exception);
    return vow_error(exception_domain, 0, "an exception of another language");
}

/// The exception of an error (borrowed), if it carries one.
inline const carried *carried_by(vow_value error) noexcept {
    return static_cast<const carried *>(object_in(vow_error_payload(error), record_of<carried>()));
}
inline const std::exception_ptr *carried_exception(vow_value error) noexcept {
    const carried *const found = carried_by(error);
    return found != nullptr ? &found->exception : nullptr;
}

/// The library's exception type of an error (borrowed): `use` is called with a null pointer to it.
template <class Use>
[[gnu::always_inline]] inline decltype(auto) with_library_type(vow_value native, Use &&use) {
    const char *domain = vow_error_domain(native);
    if (domain != nullptr && std::string_view(domain) == "vow") {
        switch (vow_error_code(native)) {
        case VOW_ECANCELLED:
            return use(static_cast<const cancelled *>(nullptr));
        case VOW_ETIMEDOUT:
            return use(static_cast<const timed_out *>(nullptr));
        case VOW_EBROKEN:
            return use(static_cast<const broken_promise *>(nullptr));
        case VOW_EAGGREGATE:
            return use(static_cast<const aggregate_error *>(nullptr));
        default:
            break;
        }
    }
    return use(static_cast<const error *>(nullptr));
}
template <class P> using pointed_to = std::remove_cv_t<std::remove_pointer_t<P>>;

/// Throws the exception that an error (borrowed) represents, in as few calls as can be, and with
/// nothing to clean up in them: that is most of the cost of a throw.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_error(const vow_value &native) {
    if (const std::exception_ptr *carried = carried_exception(native))
        std::rethrow_exception(*carried);
    with_library_type(
        native, [&](auto *type) __attribute__((always_inline)) {
            throw pointed_to<decltype(type)>(borrowed_error{native});
        });
    std::terminate();
}

/// The same as a pointer.
inline std::exception_ptr exception_of(vow_value native) noexcept {
    if (const std::exception_ptr *carried = carried_exception(native))
        return *carried;
    return with_library_type(native, [&](auto *type) {
        return std::make_exception_ptr(pointed_to<decltype(type)>(borrowed_error{native}));
    });
}

/// Throws for the code that a C function returned.
[[noreturn]] inline void throw_code(std::int64_t code, const char *what) {
    const std::string message =
        std::string(what) + ": " +
        (code == VOW_EDEADLOCK ? "deadlock, the wait would block what it waits for"
                               : vow_error_name(code));
    const value native = value::adopt(vow_error("vow", code, message.c_str()));
    throw_error(native.native());
}

/// The result of a C function, unless it is the code of an error.
template <class N> N check(N answer, const char *what) {
    if (answer < 0)
        throw_code(answer, what);
    return answer;
}

/// The result of `body`, an owned value, or its exception as an error.
template <class Body> vow_value guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (...) {
        return current_error();
    }
}

} // namespace detail

inline std::vector<std::exception_ptr> aggregate_error::errors() const {
    const value list = payload();
    std::vector<std::exception_ptr> all;
    all.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); i++)
        all.push_back(detail::exception_of(vow_list_at(list.native(), i)));
    return all;
}

// Errors of C and std::error_code: which code an error is, and which error a code is.
//
//     domain "vow"                        vow::category(), a code of vow::errc
//     domain "generic" or "system"        std::generic_category(), std::system_category()
//     what std::system_error was thrown   its own code
//
// A code of another category goes into C as a std::system_error does: the category's name is the
// domain. An error of another domain is no code.

namespace detail {

class own_category final : public std::error_category {
  public:
    [[nodiscard]] const char *name() const noexcept override {
        return "vow";
    }
    [[nodiscard]] std::string message(int code) const override {
        return vow_error_name(code);
    }
    /// Portable code asks for this: `code == std::errc::timed_out`.
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

/// An exception object as an owned error. An error code, or an exception that represents one,
/// becomes a code.
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
