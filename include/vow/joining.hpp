/// Many promises as one.
#ifndef VOW_JOINING_HPP
#define VOW_JOINING_HPP

#include "scope.hpp"

#include <iterator>
#include <vector>

namespace vow {
inline namespace v1 {
namespace detail {

namespace finds_begin {
using std::begin;
using std::end;
template <class S> auto begin_of(S &&sequence) -> decltype(begin(sequence)) {
    return begin(sequence);
}
template <class S> auto end_of(S &&sequence) -> decltype(end(sequence)) {
    return end(sequence);
}
} // namespace finds_begin

template <class S>
using reference_of = decltype(*finds_begin::begin_of(std::declval<std::remove_reference_t<S> &>()));
template <class S> using item_of = std::decay_t<reference_of<S>>;

/// Whether a sequence that is given away has its items, and does not only point to them: then a
/// constant one has constant items. A view of somebody else's items has not; of one that cannot
/// tell it is not believed.
template <class S, class = void> struct owns_items : std::false_type {};
template <class S>
struct owns_items<S, std::void_t<reference_of<const S>>>
    : std::bool_constant<!std::is_reference_v<S> && std::is_lvalue_reference_v<reference_of<S>> &&
                         std::is_const_v<std::remove_reference_t<reference_of<const S>>> &&
                         !std::is_const_v<std::remove_reference_t<reference_of<S>>>> {};

template <class S, class = void> struct never_ends : std::false_type {};
#if defined(__cpp_lib_ranges)
template <class S>
struct never_ends<S, std::void_t<reference_of<S>>>
    : std::is_same<std::unreachable_sentinel_t,
                   std::decay_t<decltype(finds_begin::end_of(
                       std::declval<std::remove_reference_t<S> &>()))>> {};
#endif

/// Calls `use` with each item: as an rvalue if the sequence is given away and owns them.
template <class S, class Use> void for_each_own(S &&sequence, Use &&use) {
    static_assert(!never_ends<S>::value, "this view has no end: take as many as are meant");
    for (auto &&each : sequence) {
        if constexpr (owns_items<S>::value) {
            use(std::move(each));
        } else if constexpr (std::is_lvalue_reference_v<reference_of<S>>) {
            static_assert(std::is_copy_constructible_v<item_of<S>>,
                          "the items of a view, or of a container that is not given away, are "
                          "copied, and these can only be moved: std::move(container)");
            use(std::as_const(each));
        } else {
            use(std::forward<decltype(each)>(each));
        }
    }
}

template <class S, class = void> struct is_sequence_of_promises : std::false_type {};
template <class S>
struct is_sequence_of_promises<S, std::void_t<reference_of<S>>> : is_promise<item_of<S>> {};
template <class T, class A>
struct is_sequence_of_promises<std::vector<promise<T>, A>, void> : std::false_type {};

/// A sequence of promises that is no vector of them: those have functions of their own.
template <class S>
using if_promises =
    std::enable_if_t<is_sequence_of_promises<std::remove_cv_t<std::remove_reference_t<S>>>::value,
                     int>;

/// The handles in a sequence, in a vector.
template <class S> auto handles_in(S &&sequence) {
    std::vector<promise<typename item_of<S>::value_type>> handles;
    for_each_own(std::forward<S>(sequence),
                 [&](auto &&each) { handles.push_back(std::forward<decltype(each)>(each)); });
    return handles;
}

/// Gives the handles in a vector to a C function.
template <class T, class Call>
vow_promise *combine(std::vector<promise<T>> &&promises, Call &&call) {
    std::vector<vow_promise *> natives;
    natives.reserve(promises.size());
    for (auto &each : promises)
        natives.push_back(each.release());
    return call(natives.data(), natives.size());
}

/// A vector of results, or nothing where there is nothing in them.
template <class T>
using results_of = std::conditional_t<std::is_void_v<T>, void, std::vector<regular<T>>>;

template <class... P>
inline constexpr bool are_promises = (is_promise<std::decay_t<P>>::value && ...);

/// The T of several promises, which is the same.
template <class P, class... Others> struct common_content {
    static_assert((std::is_same_v<std::decay_t<P>, std::decay_t<Others>> && ...),
                  "these promises are of different types");
    using type = typename std::decay_t<P>::value_type;
};

} // namespace detail

/// Fulfilled with all values, in the order of the promises; rejected as soon as one is, and then
/// the others are cancelled where nobody else reads them. (Handles are given away, as everywhere
/// here: copy what is to be kept. Instead of a vector any container, array or view may be given; a
/// view's handles, and those of a container that is not moved here, are copied.)
template <class T> promise<detail::results_of<T>> all(std::vector<promise<T>> promises) {
    return promise<detail::results_of<T>>::adopt(detail::combine(std::move(promises), vow_all));
}
template <class S, detail::if_promises<S> = 0> auto all(S &&promises) {
    return all(detail::handles_in(std::forward<S>(promises)));
}

/// The same of promises of different types: a tuple, in which nothing is a std::monostate. A
/// handler may take the tuple or its items.
template <class... T>
promise<std::tuple<detail::regular<T>...>> all(promise<T>... promises) noexcept {
    static_assert(sizeof...(T) > 0, "all() of nothing: give it an empty vector");
    vow_promise *natives[] = {promises.release()...};
    return promise<std::tuple<detail::regular<T>...>>::adopt(vow_all(natives, sizeof...(T)));
}

/// Fulfilled, when all are settled, with what became of each.
template <class T> promise<std::vector<outcome<T>>> all_settled(std::vector<promise<T>> promises) {
    return promise<std::vector<outcome<T>>>::adopt(
        detail::combine(std::move(promises), vow_all_settled));
}
template <class S, detail::if_promises<S> = 0> auto all_settled(S &&promises) {
    return all_settled(detail::handles_in(std::forward<S>(promises)));
}
template <class... T>
promise<std::tuple<outcome<T>...>> all_settled(promise<T>... promises) noexcept {
    static_assert(sizeof...(T) > 0, "all_settled() of nothing: give it an empty vector");
    vow_promise *natives[] = {promises.release()...};
    return promise<std::tuple<outcome<T>...>>::adopt(vow_all_settled(natives, sizeof...(T)));
}

/// Fulfilled with the first value; rejected with vow::aggregate_error when all are rejected.
template <class T> promise<T> any(std::vector<promise<T>> promises) {
    return promise<T>::adopt(detail::combine(std::move(promises), vow_any));
}
template <class S, detail::if_promises<S> = 0> auto any(S &&promises) {
    return any(detail::handles_in(std::forward<S>(promises)));
}
template <class T, class... Others> promise<T> any(promise<T> first, Others... others) noexcept {
    using same = typename detail::common_content<promise<T>, Others...>::type;
    vow_promise *natives[] = {first.release(), others.release()...};
    return promise<same>::adopt(vow_any(natives, 1 + sizeof...(Others)));
}

/// Fulfilled as soon as `wanted` promises are, with the values of these, in the order of the
/// promises; rejected with vow::aggregate_error when there cannot be so many any more.
template <class T>
promise<detail::results_of<T>> some(std::vector<promise<T>> promises, std::size_t wanted) {
    return promise<detail::results_of<T>>::adopt(
        detail::combine(std::move(promises), [wanted](vow_promise **natives, std::size_t count) {
            return vow_some(natives, count, wanted);
        }));
}
template <class S, detail::if_promises<S> = 0> auto some(S &&promises, std::size_t wanted) {
    return some(detail::handles_in(std::forward<S>(promises)), wanted);
}

/// Settles as the first one to settle does.
template <class T> promise<T> race(std::vector<promise<T>> promises) {
    return promise<T>::adopt(detail::combine(std::move(promises), vow_race));
}
template <class S, detail::if_promises<S> = 0> auto race(S &&promises) {
    return race(detail::handles_in(std::forward<S>(promises)));
}
template <class T, class... Others> promise<T> race(promise<T> first, Others... others) noexcept {
    using same = typename detail::common_content<promise<T>, Others...>::type;
    vow_promise *natives[] = {first.release(), others.release()...};
    return promise<same>::adopt(vow_race(natives, 1 + sizeof...(Others)));
}

// Promises that are waited for to the end: when_all, when_any, with_scope.
//
// vow::all, any and race settle at the moment of decision, and what they cancel ends in its own
// time. These settle when all have ended: coroutines among them may use what lives as long as the
// promise of them all is waited for. What they are given is theirs, as members are a scope's: it
// is cancelled whoever else reads it.

namespace detail {

/// When a promise is to end the scope that it is a member of, before others have ended.
enum class ends_when { rejected, fulfilled };

/// The members of a scope, which read them when it has ended.
class joined {
  public:
    /// Makes the promises members of a scope (borrowed).
    joined(std::vector<promise<void>> members, vow_scope *scope, ends_when ends) noexcept
        : members_(std::move(members)) {
        for (const auto &each : members_) {
            const int status = vow_scope_add(scope, vow_promise_retain(each.native()));
            if (status != 0 && status != VOW_ECANCELLED)
                failure_ = status;
        }
        if (failure_ != 0)
            vow_scope_cancel(scope);
        for (const auto &each : members_)
            if (each)
                watch(each.native(), scope, ends);
    }

    /// The list (owned) of all values; or an error that is among them.
    [[nodiscard]] vow_value all(vow_value) const {
        if (failure_ != 0)
            return failed();
        std::vector<value> values;
        for (std::size_t i = 0; i < members_.size(); i++) {
            values.push_back(outcome(i));
            if (values.back().is_error())
                return values.back().release();
        }
        return list_of(std::move(values));
    }
    /// The value (owned) of the first that has one; or the errors of all. Where they were cancelled
    /// together, the end (borrowed) says why.
    [[nodiscard]] vow_value any(vow_value end) const {
        if (failure_ != 0)
            return failed();
        bool are_cancelled = end.kind == VOW_ERROR;
        std::vector<value> errors;
        for (std::size_t i = 0; i < members_.size(); i++) {
            errors.push_back(outcome(i));
            if (!errors.back().is_error())
                return errors.back().release();
            are_cancelled =
                are_cancelled && vow_error_code(errors.back().native()) == VOW_ECANCELLED;
        }
        if (are_cancelled)
            return vow_value_retain(end);
        return vow_error_wrap("vow", VOW_EAGGREGATE, "every promise was rejected",
                              list_of(std::move(errors)));
    }
    /// What became of the only one, owned.
    [[nodiscard]] vow_value only(vow_value) const noexcept {
        return failure_ != 0 ? failed() : outcome(0).release();
    }

  private:
    /// Cancels the scope when a member (borrowed) has the outcome that decides. The scope knows of
    /// failures itself, but not of a member that somebody has cancelled.
    static void watch(vow_promise *member, vow_scope *scope, ends_when ends) noexcept {
        const auto cancels = [](vow_value, void *context) noexcept {
            vow_scope_cancel(static_cast<vow_scope *>(context));
            return vow_none();
        };
        const auto ignores = [](vow_value, void *) noexcept { return vow_none(); };
        vow_reaction sees{};
        sees.size = sizeof sees;
        sees.executor = vow_executor_inline();
        sees.context = vow_scope_retain(scope);
        sees.destroy = [](void *context) noexcept {
            vow_scope_release(static_cast<vow_scope *>(context));
        };
        if (ends == ends_when::rejected) {
            sees.on_rejected = cancels;
        } else {
            sees.on_fulfilled = cancels;
            sees.on_rejected = ignores;
        }
        vow_promise_release(vow_then_with(vow_promise_retain(member), &sees));
    }
    [[nodiscard]] value outcome(std::size_t index) const noexcept {
        vow_value native = vow_none();
        vow_promise_peek(members_[index].native(), &native);
        return value::borrow(native);
    }
    [[nodiscard]] vow_value failed() const noexcept {
        return vow_error("vow", failure_,
                         "promises to be joined: one of them is none, or no memory");
    }
    static vow_value list_of(std::vector<value> &&values) {
        std::vector<vow_value> natives;
        natives.reserve(values.size());
        for (value &each : values)
            natives.push_back(each.release());
        return vow_list(natives.data(), natives.size());
    }

    std::vector<promise<void>> members_;
    int failure_ = 0;
};

/// A promise (owned) that settles when a scope and its members have ended, with what
/// `Read` reads. Throws std::bad_alloc.
template <vow_value (joined::*Read)(vow_value) const>
vow_promise *join(vow::scope scope, std::vector<promise<void>> members, ends_when ends) {
    auto kept = std::make_unique<joined>(std::move(members), scope.native(), ends);
    const auto reads = [](vow_value end, void *context) noexcept {
        return guarded([&] { return (static_cast<const joined *>(context)->*Read)(end); });
    };
    vow_reaction reads_all{};
    reads_all.size = sizeof reads_all;
    reads_all.executor = vow_executor_inline();
    reads_all.on_fulfilled = reads;
    // A loser may have failed; the winner counts.
    if (ends == ends_when::fulfilled)
        reads_all.on_rejected = reads;
    reads_all.context = kept.release();
    reads_all.destroy = destroy_context<joined>;
    return vow_then_with(std::move(scope).close().release(), &reads_all);
}

template <class T> std::vector<promise<void>> to_join(std::vector<promise<T>> &&promises) {
    std::vector<promise<void>> members;
    members.reserve(promises.size());
    for (auto &each : promises)
        members.push_back(std::move(each).template as<void>());
    return members;
}
template <class... T> std::vector<promise<void>> to_join(promise<T> &...promises) {
    std::vector<promise<void>> members;
    members.reserve(sizeof...(T));
    (members.push_back(std::move(promises).template as<void>()), ...);
    return members;
}

inline scope failing_fast() {
    scope_options options;
    options.fail_fast = true;
    return scope(options);
}

} // namespace detail

/// Fulfilled with all values, in the order of the promises, when all have ended. The first that is
/// rejected, or cancelled, cancels the others, and is what this is rejected with, when they have
/// ended, too. Cancelled, it cancels them all. Throws std::bad_alloc.
template <class T> promise<detail::results_of<T>> when_all(std::vector<promise<T>> promises) {
    return promise<detail::results_of<T>>::adopt(detail::join<&detail::joined::all>(
        detail::failing_fast(), detail::to_join(std::move(promises)), detail::ends_when::rejected));
}
template <class S, detail::if_promises<S> = 0> auto when_all(S &&promises) {
    return when_all(detail::handles_in(std::forward<S>(promises)));
}
/// The same of promises of different types: a tuple, as of vow::all.
template <class... T> promise<std::tuple<detail::regular<T>...>> when_all(promise<T>... promises) {
    static_assert(sizeof...(T) > 0, "when_all() of nothing: give it an empty vector");
    return promise<std::tuple<detail::regular<T>...>>::adopt(detail::join<&detail::joined::all>(
        detail::failing_fast(), detail::to_join(promises...), detail::ends_when::rejected));
}

/// Fulfilled with the first value, when all have ended: that value cancels the others. Of several
/// that came at once it is that of the first in order. Rejected with vow::aggregate_error when all
/// are rejected. Throws std::bad_alloc.
template <class T> promise<T> when_any(std::vector<promise<T>> promises) {
    return promise<T>::adopt(detail::join<&detail::joined::any>(
        scope(), detail::to_join(std::move(promises)), detail::ends_when::fulfilled));
}
template <class S, detail::if_promises<S> = 0> auto when_any(S &&promises) {
    return when_any(detail::handles_in(std::forward<S>(promises)));
}
template <class T, class... Others> promise<T> when_any(promise<T> first, Others... others) {
    using same = typename detail::common_content<promise<T>, Others...>::type;
    return promise<same>::adopt(detail::join<&detail::joined::any>(
        scope(), detail::to_join(first, others...), detail::ends_when::fulfilled));
}

/// Calls `f(vow::scope &)`, as scope::async does, and settles when what it returns and all members
/// of that scope have ended: with its outcome, or the first exception of a member. When f fails or
/// is cancelled, the members are cancelled; cancelling the scope cancels what f returned, too. f
/// may be a coroutine; its locals are gone when it returns, so members use what is outside of it.
/// Throws std::bad_alloc.
template <class F> auto with_scope(const scope_options &options, F f) {
    static_assert(std::is_invocable_v<F &, scope &>, "with_scope calls f(vow::scope &)");
    struct body {
        F function;
        scope members;
        auto operator()() {
            return function(members);
        }
    };
    scope own(options);
    auto outcome = own.async(body{std::move(f), own.share()});
    using content = typename decltype(outcome)::value_type;
    return promise<content>::adopt(detail::join<&detail::joined::only>(
        std::move(own), detail::to_join(outcome), detail::ends_when::rejected));
}
template <class F> auto with_scope(F f) {
    return with_scope(scope_options(), std::move(f));
}

} // namespace v1
} // namespace vow

#endif
