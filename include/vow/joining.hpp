/// Many promises as one.
#ifndef VOW_JOINING_HPP
#define VOW_JOINING_HPP

#include "scope.hpp"

#include <array>
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
/// constant sequence has constant items. A view of other items has not; a sequence that cannot say
/// is not believed.
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

template <class... P>
inline constexpr bool are_promises = (is_promise<std::decay_t<P>>::value && ...);

/// The handles of promises that are given one by one, or in a sequence.
template <class... P> auto handles_of(P &&...promises) {
    if constexpr (are_promises<P...>) {
        static_assert(sizeof...(P) > 0, "nothing is joined here: give it an empty vector");
        return std::array<promise<void>, sizeof...(P)>{
            std::forward<P>(promises).template as<void>()...};
    } else {
        static_assert(sizeof...(P) == 1, "give it promises, or one sequence of promises");
        std::vector<promise<void>> handles;
        const auto keep = [&](auto &&each) {
            handles.push_back(std::forward<decltype(each)>(each).template as<void>());
        };
        (for_each_own(std::forward<P>(promises), keep), ...);
        return handles;
    }
}

inline std::vector<vow_promise *> places_of(const std::vector<promise<void>> &handles) {
    return std::vector<vow_promise *>(handles.size());
}
template <std::size_t N>
std::array<vow_promise *, N> places_of(const std::array<promise<void>, N> &) noexcept {
    return {};
}

/// Gives handles to a function of vow.h.
template <class Handles, class Call> vow_promise *combine(Handles handles, Call call) {
    auto natives = places_of(handles);
    std::size_t count = 0;
    for (auto &each : handles)
        natives[count++] = each.release();
    return call(natives.data(), count);
}

/// The content of promises together: a tuple of promises given one by one, a vector of a
/// sequence's, or nothing if they have no content.
template <bool OneByOne, class... P> struct joint {
    template <class Q> using content_of_one = typename std::decay_t<Q>::value_type;
    using values = std::tuple<regular<content_of_one<P>>...>;
    using outcomes = std::tuple<outcome<content_of_one<P>>...>;
    using types = std::tuple<content_of_one<P>...>;
};
template <class S> struct joint<false, S> {
    using content = typename item_of<S>::value_type;
    using values = std::conditional_t<std::is_void_v<content>, void, std::vector<regular<content>>>;
    using outcomes = std::vector<outcome<content>>;
    using types = std::tuple<content>;
};
template <class... P> using values_of = typename joint<are_promises<P...>, P...>::values;
template <class... P> using outcomes_of = typename joint<are_promises<P...>, P...>::outcomes;

template <class Types> struct same_type;
template <class T, class... Others> struct same_type<std::tuple<T, Others...>> {
    static_assert((std::is_same_v<T, Others> && ...), "these promises are of different types");
    using type = T;
};
/// The content of each promise.
template <class... P>
using content_of_each = typename same_type<typename joint<are_promises<P...>, P...>::types>::type;

} // namespace detail

// These take promises one by one, or in one vector, or any other container, array or view. Handles
// are given away: copy what is to be kept. A view's handles, and those of a container that is not
// moved here, are copied.

/// Fulfilled with all values, in the order of the promises; rejected as soon as one is, and then
/// the others are cancelled unless they have another reader. The values of promises that are given
/// one by one are a tuple, in which nothing is a std::monostate; a handler may take the tuple or
/// its items.
template <class... P> auto all(P &&...promises) {
    return promise<detail::values_of<P...>>::adopt(
        detail::combine(detail::handles_of(std::forward<P>(promises)...), vow_all));
}

/// Fulfilled, when all are settled, with the outcome of each.
template <class... P> auto all_settled(P &&...promises) {
    return promise<detail::outcomes_of<P...>>::adopt(
        detail::combine(detail::handles_of(std::forward<P>(promises)...), vow_all_settled));
}

/// Fulfilled with the first value; rejected with vow::aggregate_error when all are rejected.
template <class... P> auto any(P &&...promises) {
    return promise<detail::content_of_each<P...>>::adopt(
        detail::combine(detail::handles_of(std::forward<P>(promises)...), vow_any));
}

/// Settles as the first one to settle does.
template <class... P> auto race(P &&...promises) {
    return promise<detail::content_of_each<P...>>::adopt(
        detail::combine(detail::handles_of(std::forward<P>(promises)...), vow_race));
}

/// Fulfilled as soon as `wanted` promises are, with the values of these, in the order of the
/// promises; rejected with vow::aggregate_error when there cannot be so many any more.
template <class S> auto some(S &&promises, std::size_t wanted) {
    return promise<detail::values_of<S>>::adopt(
        detail::combine(detail::handles_of(std::forward<S>(promises)),
                        [wanted](vow_promise **natives, std::size_t count) {
                            return vow_some(natives, count, wanted);
                        }));
}

// Promises that are waited for to the end: when_all, when_any, with_scope.
//
// vow::all, any and race settle at the moment of decision, and the promises that they cancel end in
// their own time. The functions here settle when all have ended: coroutines among the promises may
// use objects that live as long as the promise of them all is waited for. The promises belong to
// these functions, as members belong to a scope: they are cancelled even if they have other
// readers.

namespace detail {

/// The outcome of joined members: all values, any of them, or the only member's.
enum class joining { all, any, only };

/// The members of a scope, which reads them when it has ended.
class joined {
  public:
    /// Makes the promises members of a scope (borrowed).
    template <class Handles>
    joined(Handles &&members, vow_scope *scope, joining as)
        : members_(std::make_move_iterator(members.begin()),
                   std::make_move_iterator(members.end())),
          as_(as) {
        for (const auto &each : members_) {
            const int status = vow_scope_add(scope, vow_promise_retain(each.native()));
            if (status != 0 && status != VOW_ECANCELLED)
                failure_ = status;
        }
        if (failure_ != 0)
            vow_scope_cancel(scope);
        for (const auto &each : members_)
            if (each)
                watch(each.native(), scope);
    }

    /// The content of all members (owned). If they were cancelled together, the end (borrowed) has
    /// the reason.
    [[nodiscard]] vow_value read(vow_value end) const {
        if (failure_ != 0)
            return vow_error("vow", failure_,
                             "promises to be joined: one of them is none, or no memory");
        std::vector<value> values;
        std::vector<value> errors;
        bool are_cancelled = end.kind == VOW_ERROR;
        for (const auto &each : members_) {
            vow_value native = vow_none();
            vow_promise_peek(each.native(), &native);
            (native.kind == VOW_ERROR ? errors : values).push_back(value::borrow(native));
            are_cancelled = are_cancelled && vow_error_code(native) == VOW_ECANCELLED;
        }
        if (as_ != joining::any && !errors.empty())
            return errors.front().release();
        if (as_ == joining::all)
            return list_of(values);
        if (!values.empty())
            return values.front().release();
        if (are_cancelled)
            return vow_value_retain(end);
        return vow_error_wrap("vow", VOW_EAGGREGATE, "every promise was rejected", list_of(errors));
    }

  private:
    /// Cancels the scope when a member (borrowed) has the deciding outcome. The scope itself sees
    /// failures, but not a member that the program has cancelled.
    void watch(vow_promise *member, vow_scope *scope) const noexcept {
        const auto cancels = [](vow_value, void *context) noexcept {
            vow_scope_cancel(static_cast<vow_scope *>(context));
            return vow_none();
        };
        const auto ignores = [](vow_value, void *) noexcept { return vow_none(); };
        vow_reaction sees = inline_reaction(vow_scope_retain(scope), [](void *context) noexcept {
            vow_scope_release(static_cast<vow_scope *>(context));
        });
        if (as_ == joining::any)
            sees.on_fulfilled = cancels;
        sees.on_rejected = as_ == joining::any ? vow_handler(ignores) : vow_handler(cancels);
        vow_promise_release(vow_then_with(vow_promise_retain(member), &sees));
    }
    static vow_value list_of(std::vector<value> &values) {
        std::vector<vow_value> natives;
        natives.reserve(values.size());
        for (value &each : values)
            natives.push_back(each.release());
        return vow_list(natives.data(), natives.size());
    }

    std::vector<promise<void>> members_;
    joining as_;
    int failure_ = 0;
};

/// A promise (owned) of the joined members, which settles when a scope of them has ended. Throws
/// std::bad_alloc.
template <class Handles> vow_promise *join(vow::scope scope, Handles members, joining as) {
    auto kept = std::make_unique<joined>(std::move(members), scope.native(), as);
    const auto reads = [](vow_value end, void *context) noexcept {
        return guarded([&] { return static_cast<const joined *>(context)->read(end); });
    };
    vow_reaction reads_all = inline_reaction(kept.release(), destroy_context<joined>);
    reads_all.on_fulfilled = reads;
    // A loser may have failed; the winner counts.
    if (as == joining::any)
        reads_all.on_rejected = reads;
    return vow_then_with(std::move(scope).close().release(), &reads_all);
}

inline scope failing_fast() {
    scope_options options;
    options.fail_fast = true;
    return scope(options);
}

} // namespace detail

/// Fulfilled with all values, as vow::all, when all have ended. The first that is rejected, or
/// cancelled, cancels the others, and is what this is rejected with, when they have ended, too.
/// Cancelled, it cancels them all. Throws std::bad_alloc.
template <class... P> auto when_all(P &&...promises) {
    return promise<detail::values_of<P...>>::adopt(
        detail::join(detail::failing_fast(), detail::handles_of(std::forward<P>(promises)...),
                     detail::joining::all));
}

/// Fulfilled with the first value, when all have ended: that value cancels the others. Of several
/// that came at once it is that of the first in order. Rejected with vow::aggregate_error when all
/// are rejected. Throws std::bad_alloc.
template <class... P> auto when_any(P &&...promises) {
    return promise<detail::content_of_each<P...>>::adopt(detail::join(
        scope(), detail::handles_of(std::forward<P>(promises)...), detail::joining::any));
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
    return promise<content>::adopt(detail::join(
        std::move(own), detail::handles_of(std::move(outcome)), detail::joining::only));
}
template <class F> auto with_scope(F f) {
    return with_scope(scope_options(), std::move(f));
}

} // namespace v1
} // namespace vow

#endif
