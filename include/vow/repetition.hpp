/// Functions of the program that run many times: map, reduce, repeat, retry.
#ifndef VOW_REPETITION_HPP
#define VOW_REPETITION_HPP

#include "joining.hpp"

namespace vow {
inline namespace v1 {
namespace detail {

/// The context of a call of vow.h, as the functions that it is.
template <class F> F &functions_in(void *context) noexcept {
    return *static_cast<F *>(context);
}

/// Calls reduce's function with the accumulated result and a value, both borrowed.
template <class A, class T, class F>
vow_value call_reducer(F &function, vow_value accumulated, vow_value input) {
    constexpr bool is_shared = is_shareable_v<A> && std::is_invocable_v<F &, const A &, const T &>;
    using sum = std::conditional_t<is_shared, const A &, A &&>;
    constexpr bool may_begin =
        may_use_arguments_later<F, std::invoke_result_t<F &, sum, const T &>>;
    return call_holding<may_begin>(
        std::make_pair(argument_of<may_begin, A>(accumulated), argument_of<may_begin, T>(input)),
        [&](auto &held) {
            const T &content = held.second.look(input);
            if constexpr (is_shared)
                return call_and_write<A>(function, held.first.look(accumulated), content);
            else
                return call_and_write<A>(function, held.first.take(accumulated), content);
        });
}

} // namespace detail

/// Calls `f` with each item, for at most `concurrency` at once (0: all together), in order, on the
/// executor that a handler registered here would get; promises that it returns are waited for.
/// Fulfilled with the vector of results (void: with nothing); the first rejection rejects, and no
/// further item is begun. Items are moved out of a container that is given away, and copied from
/// one that is not, and from a view.
template <class Items, class F> auto map(Items &&items, F f, std::size_t concurrency = 0) {
    using item = detail::item_of<Items>;
    using content = detail::content_t<detail::value_result_t<F &, item>>;
    using results =
        std::conditional_t<std::is_void_v<content>, void, std::vector<detail::regular<content>>>;
    static_assert(detail::how_taken<F &, item>() != detail::taking::wrong,
                  "map's function takes an item as const T&, T or T&&");
    std::vector<value> kept;
    detail::for_each_own(std::forward<Items>(items), [&](auto &&each) {
        kept.push_back(
            value::adopt(value_traits<item>::write(item(std::forward<decltype(each)>(each)))));
    });
    std::vector<vow_value> natives;
    natives.reserve(kept.size());
    for (auto &each : kept)
        natives.push_back(each.release());
    const vow_value list = detail::checked(vow_list(natives.data(), natives.size()));
    const auto run = [](vow_value input, void *context) noexcept {
        return detail::guarded([&] {
            return detail::call_with<item, content>(detail::functions_in<F>(context), input);
        });
    };
    value held = value::adopt(list);
    const vow_call call = detail::call_with_context(std::make_unique<F>(std::move(f)));
    return promise<results>::adopt(vow_map_with(held.release(), run, concurrency, &call));
}

/// Waits for each promise in turn and calls `f(accumulated, value)`, which returns the next A or a
/// `promise<A>`. Fulfilled with the last one.
template <class S, class A, class F> promise<A> reduce(S &&promises, A initial, F f) {
    using T = detail::content_of_each<S>;
    static_assert(std::is_invocable_v<F &, A &&, const detail::regular<T> &> ||
                      std::is_invocable_v<F &, const A &, const detail::regular<T> &>,
                  "reduce's function takes what has accumulated, and a value");
    const auto run = [](vow_value accumulated, vow_value input, void *context) noexcept {
        return detail::guarded([&] {
            return detail::call_reducer<A, detail::regular<T>>(detail::functions_in<F>(context),
                                                               accumulated, input);
        });
    };
    auto handles = detail::handles_of(std::forward<S>(promises));
    value first = value::of(std::move(initial));
    auto function = std::make_unique<F>(std::move(f));
    return promise<A>::adopt(
        detail::combine(std::move(handles), [&](vow_promise **natives, std::size_t count) {
            const vow_call call = detail::call_with_context(std::move(function));
            return vow_reduce_with(natives, count, first.release(), run, &call);
        }));
}

/// An asynchronous loop, in constant memory: while `again(state)`, the state becomes the result of
/// `step(state)`, an S or a `promise<S>`. Fulfilled with the last state.
template <class S, class Again, class Step> promise<S> repeat(S state, Again again, Step step) {
    static_assert(std::is_invocable_r_v<bool, Again &, const S &>,
                  "repeat's condition takes the state and returns bool");
    static_assert(detail::how_taken<Step &, S>() != detail::taking::wrong,
                  "repeat's step takes the state");
    struct functions {
        Again again;
        Step step;
        std::exception_ptr thrown;
    };
    // A condition cannot reject, a step can: the step throws the exception of the condition.
    const auto asks = [](vow_value now, void *context) noexcept {
        functions &its = detail::functions_in<functions>(context);
        try {
            if constexpr (detail::is_shareable_v<S>)
                return static_cast<bool>(its.again(detail::content<S>().look(now)));
            else
                return static_cast<bool>(its.again(detail::content<S>::in_place(now)));
        } catch (...) {
            its.thrown = std::current_exception();
            return true;
        }
    };
    const auto steps = [](vow_value now, void *context) noexcept {
        return detail::guarded([&] {
            functions &its = detail::functions_in<functions>(context);
            if (its.thrown)
                std::rethrow_exception(std::exchange(its.thrown, nullptr));
            return detail::call_with<S, S>(its.step, now);
        });
    };
    value first = value::of(std::move(state));
    const vow_call call = detail::call_with_context(
        std::unique_ptr<functions>(new functions{std::move(again), std::move(step), nullptr}));
    return promise<S>::adopt(vow_repeat_with(first.release(), asks, steps, &call));
}

/// How often retry tries, and how long apart.
struct retry_policy {
    std::uint64_t attempts = 3;              ///< at most so many; 0: without a bound
    std::chrono::nanoseconds first_delay{0}; ///< between the first and the second
    double factor = 2;                       ///< each delay is so many times the one before
    std::chrono::nanoseconds max_delay{0};   ///< but no longer; 0: one hour
    double jitter = 0;                       ///< how much of each delay is left to chance, 0 to 1
    std::chrono::nanoseconds deadline{0};    ///< all together; 0: none
    std::function<bool(std::exception_ptr)> may_retry{}; ///< empty: always
};

/// Calls `f`, with the number of the attempt (from 1) or nothing, until the promise of its result
/// is fulfilled. Rejected with the failure of the last attempt; if that is a vow::error, its
/// vow::error::attempts is the number of attempts. At the deadline: vow::timed_out.
template <class F> auto retry(retry_policy policy, F f) {
    constexpr bool counts = std::is_invocable_v<F &, std::int64_t>;
    static_assert(counts || std::is_invocable_v<F &>,
                  "retry's function takes the number of the attempt, or nothing");
    using content = detail::content_t<detail::value_result_t<F &, std::int64_t>>;
    struct functions {
        F attempt;
        std::function<bool(std::exception_ptr)> may_retry;
    };
    vow_retry_policy native{};
    native.size = sizeof native;
    native.attempts = policy.attempts;
    native.first_delay_ns = policy.first_delay.count();
    native.factor = policy.factor;
    native.max_delay_ns = policy.max_delay.count();
    native.jitter = policy.jitter;
    native.deadline_ns = policy.deadline.count();
    if (policy.may_retry)
        native.may_retry = [](vow_value failure, void *context) noexcept {
            try {
                return detail::functions_in<functions>(context).may_retry(
                    detail::exception_of(failure));
            } catch (...) {
                return false;
            }
        };
    const auto run = [](vow_value number, void *context) noexcept {
        return detail::guarded([&] {
            return detail::call_with<std::int64_t, content>(
                detail::functions_in<functions>(context).attempt, number);
        });
    };
    const vow_call call = detail::call_with_context(
        std::unique_ptr<functions>(new functions{std::move(f), std::move(policy.may_retry)}));
    return promise<content>::adopt(vow_retry_with(&native, run, &call));
}

} // namespace v1
} // namespace vow

#endif
