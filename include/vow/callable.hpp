/// Functions of the program as handlers of vow.h: where they are kept, and how they are called.
#ifndef VOW_CALLABLE_HPP
#define VOW_CALLABLE_HPP

#include "expected.hpp"
#include "scalars.hpp"

#include <cstring>
#include <functional>

namespace vow {
inline namespace v1 {

template <class T> class promise;

namespace detail {

// A coroutine uses itself and its arguments after its function has returned.
//
// A coroutine keeps references to its parameters, and to the function object that it is a call of.
// So both are held until the promise that it returned settles, which is when its frame has ended.
// For another function nothing is held: it looks like a coroutine when it is registered, but when
// it returns it is known whether a coroutine has begun.

/// How many coroutines that return a vow::promise have begun on this thread.
VOW_SHARED_BY_OBJECTS thread_local std::uint64_t coroutines_begun = 0;

template <class T> struct is_promise : std::false_type {};
template <class T> struct is_promise<promise<T>> : std::true_type {};

/// The arguments of a function of the program that has one signature; those of a template, or of
/// overloads, are not known.
template <class... A> struct arguments {};
struct unknown_arguments {};
template <class F> struct signature {
    template <class C, class R, class... A> static arguments<A...> of(R (C::*)(A...));
    template <class C, class R, class... A> static arguments<A...> of(R (C::*)(A...) const);
    template <class C, class R, class... A> static arguments<A...> of(R (C::*)(A...) noexcept);
    template <class C, class R, class... A>
    static arguments<A...> of(R (C::*)(A...) const noexcept);
    // A function, also a static operator() of C++23.
    template <class R, class... A> static arguments<A...> of(R (*)(A...));
    template <class R, class... A> static arguments<A...> of(R (*)(A...) noexcept);

    template <class G> static auto test(int) -> decltype(of(&G::operator()));
    template <class G> static auto test(long) -> decltype(of(std::declval<G>()));
    template <class G> static unknown_arguments test(...);
    using type = decltype(test<F>(0));
};
/// A member is called with the object that it is one of.
template <class M, class C> struct signature<M C::*> { using type = arguments<C>; };

/// Whether a function is known to take copies of its arguments. A view is no copy.
template <class A>
inline constexpr bool is_copied =
    !std::is_reference_v<A> &&
    (std::is_arithmetic_v<A> || std::is_enum_v<A> || !std::is_trivially_copyable_v<A>);
template <class Arguments> struct are_copied : std::false_type {};
template <class... A>
struct are_copied<arguments<A...>> : std::bool_constant<(is_copied<A> && ...)> {};
template <class F>
inline constexpr bool takes_copies =
    std::is_class_v<F> &&are_copied<typename signature<F>::type>::value;

/// The first of them; void: there is none; unknown_arguments.
template <class Arguments> struct first_of { using type = unknown_arguments; };
template <> struct first_of<arguments<>> { using type = void; };
template <class A, class... Others> struct first_of<arguments<A, Others...>> {
    using type = std::conditional_t<sizeof...(Others) == 0, std::decay_t<A>, unknown_arguments>;
};
template <class F> using first_parameter = typename first_of<typename signature<F>::type>::type;

/// Calls a function that may be a coroutine, by `call`, with its held objects; if a coroutine has
/// begun, they are held until the promise that it returned settles. A function that cannot be a
/// coroutine is called with objects on the stack.
template <bool MayBegin, class Held, class Call> vow_value call_holding(Held held, Call &&call) {
    if constexpr (!MayBegin) {
        return call(held);
    } else {
        auto kept = std::make_unique<Held>(std::move(held));
        const std::uint64_t before = coroutines_begun;
        const vow_value result = call(*kept);
        if (coroutines_begun == before || result.kind != VOW_PROMISE)
            return result;
        vow_promise *const made = vow_promise_with(result);
        if (vow_promise_state(made) != VOW_PENDING)
            return vow_from_promise(made);
        const vow_reaction keeps = inline_reaction(kept.release(), destroy_context<Held>);
        return vow_from_promise(vow_then_with(made, &keeps));
    }
}

/// An argument of a function: the content of a value, which is kept for a coroutine.
template <class T> struct argument : content<T> { value kept; };
template <bool MayBegin, class T> argument<T> argument_of(vow_value native) noexcept {
    return {{}, MayBegin ? value::borrow(native) : value()};
}

/// Whether a function of the program that returns an R may be a coroutine that uses its captures.
template <class F, class R>
inline constexpr bool may_use_captures_later =
    is_promise<std::remove_cv_t<R>>::value && !std::is_empty_v<F>;

/// Keeps an F behind a `void *`. A small one that is but bits is kept in the pointer itself and
/// costs no memory: a lambda without captures, or one that captures a reference or a pointer. For
/// functions that are called once: a function in the pointer is called as a copy.
template <class F> struct slot {
    static constexpr bool is_inside =
        sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *) &&
        std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;

    static void *make(F &&function) {
        if constexpr (is_inside) {
            void *context = nullptr;
            std::memcpy(&context, static_cast<const void *>(std::addressof(function)), sizeof(F));
            return context;
        } else {
            return new F(std::move(function));
        }
    }

    /// Calls `use` with the F behind a context.
    template <class Use> static decltype(auto) with(void *context, Use &&use) {
        if constexpr (is_inside) {
            // A pointer must not be read as an F: the bits get a place that is one.
            union place {
                place() noexcept {
                }
                F function;
            } copy;
            std::memcpy(static_cast<void *>(std::addressof(copy.function)), &context, sizeof(F));
            return use(copy.function);
        } else {
            return use(*static_cast<F *>(context));
        }
    }

    /// The same for the only call, whose result is an owned value: a coroutine that uses it later
    /// has the F to its end.
    template <bool MayUseLater, class Use> static vow_value once(void *context, Use &&use) {
        return with(context, [&](F &its) {
            if constexpr (is_inside && MayUseLater)
                return call_holding<true>(std::move(its), std::forward<Use>(use));
            else
                return use(its);
        });
    }

    /// The function that frees it: nullptr if there is nothing to free.
    static constexpr auto destroyer() noexcept -> void (*)(void *) {
        if constexpr (is_inside)
            return nullptr;
        else
            return destroy_context<F>;
    }
};

/// The content of the promise of a handler's result.
template <class R> struct content_of { using type = std::decay_t<R>; };
template <> struct content_of<void> { using type = void; };
template <class T> struct content_of<promise<T>> { using type = T; };
#if defined(__cpp_lib_expected)
template <class T, class E> struct content_of<std::expected<T, E>> { using type = T; };
#endif
template <class R> using content_t = typename content_of<std::remove_cv_t<R>>::type;

/// How a handler takes the value of a `promise<T>`.
enum class taking { nothing, shared, moved, spread, spread_moved, wrong };

constexpr bool takes_away(taking how) noexcept {
    return how == taking::moved || how == taking::spread_moved;
}

/// Whether a function takes the items of a tuple, as const T & or as T &&, and the type of its
/// result then.
template <class F, class T> struct spreading {
    static constexpr bool shared = false, moved = false;
};
template <class F, class... T> struct spreading<F, std::tuple<T...>> {
    static constexpr bool shared = std::is_invocable_v<F, const T &...>;
    static constexpr bool moved = std::is_invocable_v<F, T &&...>;
    template <taking How>
    using result = std::conditional_t<How == taking::spread, std::invoke_result<F, const T &...>,
                                      std::invoke_result<F, T &&...>>;
};

template <class F, class T> constexpr taking how_taken() {
    if constexpr (!std::is_void_v<T>) {
        // A vector of a type that cannot be copied says that it can be.
        constexpr bool is_sharing = is_shareable_v<T> || !std::is_copy_constructible_v<T>;
        if (is_sharing && std::is_invocable_v<F, const T &>)
            return taking::shared;
        if (std::is_invocable_v<F, T &&>)
            return taking::moved;
        if (is_shareable_v<T> && spreading<F, T>::shared)
            return taking::spread;
        if (!is_shareable_v<T> && spreading<F, T>::moved)
            return taking::spread_moved;
    }
    return std::is_invocable_v<F> ? taking::nothing : taking::wrong;
}

template <class F, class T> constexpr auto value_result() {
    constexpr taking how = how_taken<F, T>();
    static_assert(how != taking::wrong,
                  "a handler takes the value as const T&, T or T&&, or takes nothing");
    if constexpr (how == taking::nothing)
        return std::invoke_result<F>();
    else if constexpr (how == taking::shared)
        return std::invoke_result<F, const T &>();
    else if constexpr (how == taking::moved)
        return std::invoke_result<F, T &&>();
    else if constexpr (how != taking::wrong)
        return typename spreading<F, T>::template result<how>();
    else
        return std::enable_if<true, void>();
}
/// The result of a handler of a `promise<T>`.
template <class F, class T> using value_result_t = typename decltype(value_result<F, T>())::type;

/// Calls a function and writes its result as a C, owned.
template <class C, class F, class... A> vow_value call_and_write(F &&function, A &&...arguments) {
    using result = std::remove_cv_t<std::invoke_result_t<F, A...>>;
    if constexpr (std::is_void_v<result>) {
        std::invoke(std::forward<F>(function), std::forward<A>(arguments)...);
        return vow_none();
    } else if constexpr (is_promise<result>::value) {
        static_assert(std::is_same_v<typename result::value_type, C>,
                      "the promise that this handler returns is of another type");
        return vow_from_promise(
            std::invoke(std::forward<F>(function), std::forward<A>(arguments)...).release());
    } else if constexpr (settles_by<result, C>) {
        return write_expected<C>(
            std::invoke(std::forward<F>(function), std::forward<A>(arguments)...));
    } else if constexpr (std::is_void_v<C>) {
        std::invoke(std::forward<F>(function), std::forward<A>(arguments)...);
        return vow_none();
    } else {
        static_assert(std::is_convertible_v<result, C>,
                      "what this handler returns is no value of the promise");
        return value_traits<C>::write(
            converted<C>(std::invoke(std::forward<F>(function), std::forward<A>(arguments)...)));
    }
}

/// Whether a function that returns an R may be a coroutine that uses its arguments.
template <class F, class R>
inline constexpr bool may_use_arguments_later =
    is_promise<std::remove_cv_t<R>>::value && !takes_copies<std::decay_t<F>>;

/// The same with an argument that is held for a coroutine.
template <class C, class F, class A> vow_value call_with_own(F &&function, A argument) {
    return call_holding<may_use_arguments_later<F, std::invoke_result_t<F, A>>>(
        std::move(argument),
        [&](A &held) { return call_and_write<C>(std::forward<F>(function), std::move(held)); });
}

/// Calls a handler with the T in a value (borrowed), as it takes it, and writes its result as a C.
template <class T, class C, class F> vow_value call_with(F &&function, vow_value input) {
    constexpr taking how = how_taken<F, T>();
    if constexpr (how == taking::nothing) {
        return call_and_write<C>(std::forward<F>(function));
    } else {
        constexpr bool may_begin = may_use_arguments_later<F, value_result_t<F, T>>;
        return call_holding<may_begin>(argument_of<may_begin, T>(input), [&](argument<T> &held) {
            const auto call = [&](auto &&...arguments) {
                return call_and_write<C>(std::forward<F>(function),
                                         std::forward<decltype(arguments)>(arguments)...);
            };
            if constexpr (how == taking::shared)
                return call(held.look(input));
            else if constexpr (how == taking::moved)
                return call(held.take(input));
            else if constexpr (how == taking::spread)
                return std::apply(call, held.look(input));
            else
                return std::apply(call, held.take(input));
        });
    }
}

} // namespace detail

} // namespace v1
} // namespace vow

#endif
