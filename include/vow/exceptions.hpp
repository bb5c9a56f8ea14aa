/// Exceptions to rejections and back: the very exception comes out where it is read.
#ifndef VOW_EXCEPTIONS_HPP
#define VOW_EXCEPTIONS_HPP

#include "clause.hpp"
#include "ending.hpp"
#include "error.hpp"
#include "identity.hpp"

#include <string>
#include <system_error>
#include <type_traits>

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

/// What an error (borrowed) carries, if it carries an exception.
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

/// Throws what an error (borrowed) stands for. In as few calls as can be, and nothing in them has
/// to be cleaned up: that is most of what a throw costs.
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
