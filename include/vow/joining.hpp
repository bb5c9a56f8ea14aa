/// Promises that are waited for to the end: when_all, when_any, with_scope.
///
/// vow::all, any and race settle at the moment of decision, and what they cancel ends in its own
/// time. These settle when all have ended: coroutines among them may use what lives as long as the
/// promise of them all is waited for. What they are given is theirs, as members are a scope's: it
/// is cancelled whoever else reads it.
#ifndef VOW_JOINING_HPP
#define VOW_JOINING_HPP

#include "combinators.hpp"
#include "scope.hpp"

namespace vow {
inline namespace v1 {
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
