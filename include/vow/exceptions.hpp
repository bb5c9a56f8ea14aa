/// Exceptions to rejections and back: the very exception comes out where it is read.
#ifndef VOW_EXCEPTIONS_HPP
#define VOW_EXCEPTIONS_HPP

#include "ending.hpp"
#include "error.hpp"
#include "identity.hpp"

#include <new>
#include <system_error>
#include <type_traits>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace vow {
inline namespace v1 {
namespace detail {

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

inline const vow_class exception_class = {sizeof(vow_class), "C++ exception", carried::destroy,
                                          nullptr};

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

/// The exception being handled, as an owned error. Call it in a catch clause.
inline vow_value current_error() noexcept {
    try {
        throw;
    } catch (const error &exception) {
        if (is_of_library(exception))
            return vow_value_retain(exception.native());
        return wrap_exception(std::current_exception(), exception.domain(), exception.code(),
                              exception.what(), true);
    } catch (const std::system_error &exception) {
        return wrap_exception(std::current_exception(), exception.code().category().name(),
                              exception.code().value(), exception.what());
    } catch (const std::bad_alloc &exception) {
        return wrap_exception(std::current_exception(), "vow", VOW_ENOMEM, exception.what());
    } catch (const std::exception &exception) {
        return wrap_exception(std::current_exception(), exception_domain, 0, exception.what());
    } catch (...) {
        return wrap_exception(std::current_exception(), exception_domain, 0,
                              "an exception that is no std::exception");
    }
}

/// An exception as an owned error; an empty pointer is a wrong argument.
inline vow_value error_of(const std::exception_ptr &exception) noexcept {
    if (exception == nullptr)
        return vow_error("vow", VOW_EINVAL, "an empty std::exception_ptr is no reason");
    try {
        std::rethrow_exception(exception);
    } catch (...) {
        return current_error();
    }
}

/// An exception object as an owned error. An error code, or what stands for one, is thrown as a
/// std::system_error.
template <class E> vow_value error_of_exception(E &&exception) noexcept {
    using plain = std::decay_t<E>;
    if constexpr (std::is_same_v<plain, std::exception_ptr>) {
        return error_of(exception);
    } else if constexpr (std::is_same_v<plain, std::error_code>) {
        return error_of_exception(std::system_error(exception));
    } else if constexpr (std::is_error_code_enum_v<plain>) {
        return error_of_exception(std::system_error(make_error_code(exception)));
    } else if constexpr (std::is_same_v<plain, std::errc>) {
        return error_of_exception(std::system_error(std::make_error_code(exception)));
    } else {
        try {
            throw std::forward<E>(exception);
        } catch (...) {
            return current_error();
        }
    }
}

/// What an error (borrowed) carries, if it carries an exception.
inline const carried *carried_by(vow_value error) noexcept {
    return static_cast<const carried *>(object_in(vow_error_payload(error), record_of<carried>()));
}
inline const std::exception_ptr *carried_exception(vow_value error) noexcept {
    const carried *const found = carried_by(error);
    return found != nullptr ? &found->exception : nullptr;
}

/// The library's exception type of an error (borrowed), given to `use`.
template <class Use> decltype(auto) with_library_type(vow_value native, Use &&use) {
    value held = value::borrow(native);
    const char *domain = vow_error_domain(native);
    if (domain != nullptr && std::string_view(domain) == "vow") {
        switch (vow_error_code(native)) {
        case VOW_ECANCELLED:
            return use(cancelled(std::move(held)));
        case VOW_ETIMEDOUT:
            return use(timed_out(std::move(held)));
        case VOW_EBROKEN:
            return use(broken_promise(std::move(held)));
        case VOW_EAGGREGATE:
            return use(aggregate_error(std::move(held)));
        default:
            break;
        }
    }
    return use(error(std::move(held)));
}

/// Throws what an error (borrowed) stands for.
[[noreturn]] inline void throw_error(vow_value native) {
    if (const std::exception_ptr *carried = carried_exception(native))
        std::rethrow_exception(*carried);
    with_library_type(native, [](auto &&exception) { throw std::move(exception); });
    std::terminate();
}

/// The same as a pointer.
inline std::exception_ptr exception_of(vow_value native) noexcept {
    if (const std::exception_ptr *carried = carried_exception(native))
        return *carried;
    return with_library_type(native, [](auto &&exception) {
        return std::make_exception_ptr(std::forward<decltype(exception)>(exception));
    });
}

/// Throws for the code that a C function returned.
[[noreturn]] inline void throw_code(std::int64_t code, const char *what) {
    const value native = value::adopt(vow_error("vow", code, what));
    throw_error(native.native());
}

/// What `body` returns, an owned value, or its exception as an error.
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

} // namespace v1
} // namespace vow

#endif
