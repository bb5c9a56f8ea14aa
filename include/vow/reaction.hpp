/// One link of a chain, made of functions of the program.
#ifndef VOW_REACTION_HPP
#define VOW_REACTION_HPP

#include "executor.hpp"
#include "token.hpp"

namespace vow {

/// What else can be said about a link. With C++20: `p.then({.token = t, .label = "parse"}, f)`.
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

/// What may stand before a handler and say where it runs.
template <class W>
inline constexpr bool is_where = std::is_same_v<W, options> || std::is_same_v<W, executor>;

/// Which outcomes a function is for; the other one passes through.
enum class on { value, error, both };

/// Registers a function from a borrowed to an owned C value on a promise (consumed); it is
/// destroyed once, by the library, before the new promise settles. Returns the new promise (owned).
/// Throws std::bad_alloc, and then the promise is released.
template <on Outcome, class Function>
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
        return guarded(
            [&] { return place::once(context, [&](Function &its) { return its(input); }); });
    };
    if (Outcome != on::error)
        reaction.on_fulfilled = handler;
    if (Outcome != on::value)
        reaction.on_rejected = handler;
    return vow_then_with(promise, &reaction);
}

/// Calls a handler of T with a value and makes a C of its result.
template <class T, class C, class F> auto value_handler(F function) {
    return mark<may_use_captures_later<F, value_result_t<F, T>>>(
        [function = std::move(function)](vow_value input) mutable {
            return call_with<T, C>(std::move(function), input);
        });
}

/// recover's first template argument when the handler's parameter tells it.
struct by_parameter {};

/// Which exceptions a handler of rejections is for; void: all, and it takes nothing.
template <class E, class F>
using caught_t = std::conditional_t<
    !std::is_same_v<E, by_parameter>, E,
    std::conditional_t<std::is_invocable_v<F>, void,
                       std::conditional_t<std::is_void_v<typename first_parameter<F>::type>,
                                          std::exception_ptr, typename first_parameter<F>::type>>>;

template <class F, class E> struct error_result {
    using type = std::invoke_result_t<F, const E &>;
};
template <class F> struct error_result<F, void> { using type = std::invoke_result_t<F>; };

/// The library's own exceptions are told by code, without a throw; false: it is something else.
template <class E, class Use> bool with_own_error(vow_value native, Use &&use) {
    if (carried_exception(native) != nullptr)
        return false;
    return with_library_type(native, [&](const auto &exception) {
        if constexpr (std::is_convertible_v<decltype(exception), const E &>) {
            use(static_cast<const E &>(exception));
            return true;
        } else {
            return false;
        }
    });
}

/// Calls a handler for rejections of type E, whose result becomes a C; others pass through.
template <class E, class C, class F> auto error_handler(F function) {
    return [function = std::move(function)](vow_value input) mutable -> vow_value {
        if constexpr (std::is_void_v<E>) {
            return call_and_write<C>(std::move(function));
        } else if constexpr (std::is_same_v<E, std::exception_ptr>) {
            return call_and_write<C>(std::move(function), exception_of(input));
        } else {
            vow_value result = vow_none();
            const auto handle = [&](const E &exception) {
                if constexpr (std::is_invocable_v<F, const E &>)
                    result = call_and_write<C>(std::move(function), exception);
                else
                    result = call_and_write<C>(std::move(function));
            };
            if constexpr (std::is_base_of_v<std::exception, E> &&
                          std::is_convertible_v<const aggregate_error &, const std::exception &>) {
                if (with_own_error<E>(input, handle))
                    return result;
            }
            const std::exception_ptr *carried = carried_exception(input);
            if (carried == nullptr)
                return vow_value_retain(input);
            bool is_handling = false;
            try {
                std::rethrow_exception(*carried);
            } catch (const E &exception) {
                handle(exception);
                is_handling = true;
            } catch (...) {
            }
            return is_handling ? result : vow_value_retain(input);
        }
    };
}

/// Reports an error (borrowed) that has no reader as unhandled; a cancellation, or no error, is
/// nothing to report.
inline void report_unless_cancelled(vow_value error) noexcept {
    vow_promise_release(vow_promise_with(vow_value_retain(error)));
}

} // namespace detail
} // namespace vow

#endif
