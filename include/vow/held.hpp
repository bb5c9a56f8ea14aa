/// What a function that is a coroutine uses after it has returned: itself, and what it was called
/// with.
///
/// A coroutine keeps references to its parameters, and to the function object that it is a call of.
/// So both are held until the promise that it returned settles, which is when its frame has ended.
/// Of a function that is none nothing is held: it cannot be told from a coroutine when it is
/// registered, but whether a coroutine began is known when it returns.
#ifndef VOW_HELD_HPP
#define VOW_HELD_HPP

#include "traits.hpp"

#include <functional>

namespace vow {
inline namespace v1 {

template <class T> class promise;

namespace detail {

/// How many coroutines that return a vow::promise have begun on this thread.
VOW_SHARED_BY_OBJECTS thread_local std::uint64_t coroutines_begun = 0;

template <class T> struct is_promise : std::false_type {};
template <class T> struct is_promise<promise<T>> : std::true_type {};

/// Whether a function is known to take copies of what it is called with. A view is none.
template <class F> struct takes_copies {
    template <class A>
    static constexpr bool is_copied =
        !std::is_reference_v<A> &&
        (std::is_arithmetic_v<A> || std::is_enum_v<A> || !std::is_trivially_copyable_v<A>);

    template <class C, class R, class... A>
    static std::bool_constant<(is_copied<A> && ...)> of(R (C::*)(A...));
    template <class C, class R, class... A>
    static std::bool_constant<(is_copied<A> && ...)> of(R (C::*)(A...) const);
    template <class C, class R, class... A>
    static std::bool_constant<(is_copied<A> && ...)> of(R (C::*)(A...) noexcept);
    template <class C, class R, class... A>
    static std::bool_constant<(is_copied<A> && ...)> of(R (C::*)(A...) const noexcept);

    template <class G> static auto test(int) -> decltype(of(&G::operator()));
    template <class G> static std::false_type test(...);

    static constexpr bool value = decltype(test<F>(0))::value;
};

/// What a function is called with: the content of a C value, kept for it.
template <class T> class held_input {
  public:
    /// The T in a value (borrowed), for as long as this lives.
    const T &read(vow_value input) {
        using found = decltype(value_traits<T>::read(input));
        if constexpr (std::is_reference_v<found>) {
            native_ = value::borrow(input);
            return value_traits<T>::read(input);
        } else {
            if (const auto *object = box<T>::in(input)) {
                native_ = value::borrow(input);
                return object->shared();
            }
            return own_.emplace(value_traits<T>::read(input));
        }
    }
    /// The same, moved out of it.
    T &&take(vow_value input) {
        return std::move(own_.emplace(value_traits<T>::take(input)));
    }

  private:
    value native_;
    std::optional<T> own_;
};

/// What `call` returns when it is given what is held for it; if that is the promise of a coroutine
/// that has begun, it is held until the promise settles.
template <class Held, class Call>
vow_value held_until_settled(std::unique_ptr<Held> held, Call &&call) {
    const std::uint64_t before = coroutines_begun;
    const vow_value result = call(*held);
    if (coroutines_begun == before || result.kind != VOW_PROMISE)
        return result;
    vow_promise *const made = vow_promise_with(result);
    if (vow_promise_state(made) != VOW_PENDING)
        return vow_from_promise(made);
    vow_reaction keeps{};
    keeps.size = sizeof keeps;
    keeps.executor = vow_executor_inline();
    keeps.context = held.release();
    keeps.destroy = destroy_context<Held>;
    return vow_from_promise(vow_then_with(made, &keeps));
}

/// Whether a function of the program that returns an R may be a coroutine that uses what it
/// captured.
template <class F, class R>
inline constexpr bool may_use_captures_later =
    is_promise<std::remove_cv_t<R>>::value && !std::is_empty_v<F>;

/// A lambda around a function of the program that may be such a coroutine, or not.
template <bool MayUseLater, class F> struct marked : F {
    using may_use_later = std::bool_constant<MayUseLater>;
    explicit marked(F &&function) : F(std::move(function)) {
    }
};
template <bool MayUseLater, class F> marked<MayUseLater, F> mark(F function) {
    return marked<MayUseLater, F>(std::move(function));
}
template <class F, class = void> struct is_marked : std::false_type {};
template <class F>
struct is_marked<F, std::void_t<typename F::may_use_later>> : F::may_use_later {};

} // namespace detail
} // namespace v1
} // namespace vow

#endif
