/// One link of a chain, made of functions of the program.
#ifndef VOW_REACTION_HPP
#define VOW_REACTION_HPP

#include "executor.hpp"
#include "token.hpp"

namespace vow {
inline namespace v1 {

/// The options of a link. With C++20: `p.then(f, {.token = t, .label = "parse"})`.
struct options {
    vow::executor executor{};    ///< empty: that of the thread which registers
    vow::token token{};          ///< cancels this link, and leaves what it waits for alone
    const char *label = nullptr; ///< names the link in messages; a static string
};

namespace detail {

inline vow_reaction reaction_with(const options &where) noexcept {
    vow_reaction reaction{};
    reaction.size = sizeof reaction;
    reaction.executor = where.executor.native();
    reaction.token = where.token.native();
    reaction.label = where.label;
    return reaction;
}
inline vow_reaction reaction_with(const executor &where) noexcept {
    vow_reaction reaction{};
    reaction.size = sizeof reaction;
    reaction.executor = where.native();
    return reaction;
}

/// A type that may come behind a handler and say where it runs.
template <class W>
inline constexpr bool is_where = std::is_same_v<W, options> || std::is_same_v<W, executor>;
template <class W> using if_where = std::enable_if_t<is_where<W>, int>;

/// Which outcomes a function is for; the other one passes through.
enum class on { value, error, both };

/// Registers a function from a borrowed to an owned C value on a promise (consumed); it is
/// destroyed once, by the library, before the new promise settles. Returns the new promise (owned).
/// Throws std::bad_alloc, and then the promise is released.
template <on Outcome, bool MayUseLater, class Function>
vow_promise *link(vow_promise *promise, vow_reaction reaction, Function function) {
    using place = slot<Function>;
    reaction.destroy = place::destroyer();
    try {
        reaction.context = place::make(std::move(function));
    } catch (...) {
        vow_promise_release(promise);
        throw;
    }
    const vow_handler handler = [](vow_value input, void *context) noexcept {
        return guarded([&] {
            return place::template once<MayUseLater>(context,
                                                     [&](Function &its) { return its(input); });
        });
    };
    if (Outcome != on::error)
        reaction.on_fulfilled = handler;
    if (Outcome != on::value)
        reaction.on_rejected = handler;
    return vow_then_with(promise, &reaction);
}

/// Calls a handler of T with a value and makes a C of its result.
template <class T, class C, class F> auto value_handler(F function) {
    return [function = std::move(function)](vow_value input) mutable {
        return call_with<T, C>(std::move(function), input);
    };
}

/// recover's first template argument when the handler's parameter tells it.
struct by_parameter {};

/// Which exceptions a handler of rejections is for; void: all, and it takes nothing.
template <class E, class F>
using caught_t =
    std::conditional_t<!std::is_same_v<E, by_parameter>, E,
                       std::conditional_t<std::is_invocable_v<F>, void, first_parameter<F>>>;

/// Whether a function can be a handler of exceptions of type E; says why, if it cannot.
template <class E, class F> constexpr bool can_handle() {
    if constexpr (std::is_same_v<E, unknown_arguments>) {
        static_assert(
            !std::is_same_v<E, unknown_arguments>,
            "an auto parameter, or overloads, do not say which exceptions this handler is "
            "for: recover<E>(f), std::exception_ptr for all");
        return false;
    } else if constexpr (std::is_invocable_v<F>) {
        return true;
    } else {
        static_assert(std::is_invocable_v<F, const E &>,
                      "a handler takes the exception as const E& or E, or takes nothing: all "
                      "readers share it");
        return std::is_invocable_v<F, const E &>;
    }
}

/// Whether a handler takes an exception of type E, or nothing.
template <class F, class E>
inline constexpr bool takes_exception = std::is_invocable_v<F, const E &>;
template <class F> inline constexpr bool takes_exception<F, void> = false;

template <class F, class E, bool = takes_exception<F, E>> struct error_call {
    using result = std::invoke_result_t<F>;
    static constexpr bool is_noexcept = std::is_nothrow_invocable_v<F>;
};
template <class F, class E> struct error_call<F, E, true> {
    using result = std::invoke_result_t<F, const E &>;
    static constexpr bool is_noexcept = std::is_nothrow_invocable_v<F, const E &>;
};

/// Calls a handler with an exception that a pointer leads to, or with nothing, and writes its
/// result as a C. Of a coroutine the exception is held.
template <class C, class F, class E>
vow_value call_error_handler(F &&function, const E &exception, const std::exception_ptr &pointer) {
    using call = error_call<F, E>;
    constexpr bool may_begin =
        is_promise<std::remove_cv_t<typename call::result>>::value && takes_exception<F, E>;
    return call_holding<may_begin>(may_begin ? pointer : nullptr, [&](const auto &) {
        if constexpr (takes_exception<F, E>)
            return call_and_write<C>(std::forward<F>(function), exception);
        else
            return call_and_write<C>(std::forward<F>(function));
    });
}

/// Calls a handler for exceptions of type E (void: all) with the exception of an error (borrowed),
/// if it is an E; else the error is passed on. It is the body of a catch clause, so that `throw;`
/// passes the exception on, unless it cannot throw.
template <class E, class C, class F> vow_value handle_error(F &&function, vow_value native) {
    using call = error_call<F, E>;
    constexpr bool needs_clause =
        !call::is_noexcept || is_promise<std::remove_cv_t<typename call::result>>::value;
    if constexpr (std::is_void_v<E> && !needs_clause) {
        return call_and_write<C>(std::forward<F>(function));
    } else if constexpr (std::is_same_v<E, std::exception_ptr> && !needs_clause) {
        return call_and_write<C>(std::forward<F>(function), exception_of(native));
    } else if constexpr (std::is_same_v<E, std::error_code>) {
        const std::optional<std::error_code> code = code_of(native);
        if (!code)
            return vow_value_retain(native);
        vow_value result = vow_none();
        const auto use = [&] { result = call_with_own<C>(std::forward<F>(function), *code); };
        if constexpr (needs_clause)
            in_clause<void>(exception_of(native), use);
        else
            use();
        return result;
    } else if constexpr (std::is_void_v<E> || std::is_same_v<E, std::exception_ptr>) {
        const std::exception_ptr exception = exception_of(native);
        vow_value result = vow_none();
        in_clause<void>(exception, [&] {
            if constexpr (std::is_void_v<E>)
                result = call_and_write<C>(std::forward<F>(function));
            else
                result = call_with_own<C>(std::forward<F>(function), exception);
        });
        return result;
    } else {
        const carried *const box = carried_by(native);
        if constexpr (std::is_base_of_v<error, E>) {
            if (box != nullptr && !box->is_error)
                return vow_value_retain(native);
        }
        if (box == nullptr) {
            // The library's own exceptions are found by code, before they are made.
            std::optional<vow_value> result;
            const bool is_one = with_library_type(native, [&](auto *type) {
                using found = pointed_to<decltype(type)>;
                if constexpr (std::is_convertible_v<const found &, const E &>) {
                    if constexpr (!needs_clause)
                        result = call_error_handler<C, F, E>(
                            std::forward<F>(function), found(borrowed_error{native}), nullptr);
                    return true;
                } else {
                    return false;
                }
            });
            if (!is_one)
                return vow_value_retain(native);
            if (result)
                return *result;
        }
        const std::exception_ptr exception = exception_of(native);
        vow_value result = vow_none();
        const auto use = [&](const auto &found) {
            result = call_error_handler<C, F, E>(std::forward<F>(function), found, exception);
        };
        const bool is_caught =
            needs_clause ? in_clause<E>(exception, use) : with_exception<E>(exception, use);
        return is_caught ? result : vow_value_retain(native);
    }
}

/// Whether a handler may be a coroutine that uses its captures.
template <class F, class E>
inline constexpr bool error_handler_may_use_later =
    may_use_captures_later<F, typename error_call<F, E>::result>;

/// The same as a handler of a link.
template <class E, class C, class F> auto error_handler(F function) {
    return [function = std::move(function)](vow_value input) mutable {
        return handle_error<E, C>(std::move(function), input);
    };
}

/// The same for errors of a domain (borrowed) and a code (VOW_ANY_CODE: each).
template <class C, class F> auto error_handler(const char *domain, std::int64_t code, F function) {
    return [domain, code, function = std::move(function)](vow_value input) mutable -> vow_value {
        if (std::string_view(vow_error_domain(input)) != domain ||
            (code != VOW_ANY_CODE && code != vow_error_code(input)))
            return vow_value_retain(input);
        const std::exception_ptr *const exception = carried_exception(input);
        if (exception == nullptr)
            return handle_error<error, C>(std::move(function), input);
        vow_value result = vow_none();
        const auto use = [&](const error &found) {
            result = call_error_handler<C>(std::move(function), found, *exception);
        };
        if (in_clause<error>(*exception, use))
            return result;
        in_clause<void>(*exception, [&] {
            if constexpr (takes_exception<F, error>)
                result = call_with_own<C>(std::move(function), error(value::borrow(input)));
            else
                result = call_and_write<C>(std::move(function));
        });
        return result;
    };
}

/// Reports an error (borrowed) that has no reader as unhandled; a cancellation, or no error, is
/// nothing to report.
inline void report_unless_cancelled(vow_value error) noexcept {
    vow_promise_release(vow_promise_with(vow_value_retain(error)));
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
