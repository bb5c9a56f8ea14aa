/// co_await on promises, and coroutines that return them: C++20.
#ifndef VOW_COROUTINE_HPP
#define VOW_COROUTINE_HPP

#include "resolver.hpp"
#include "time.hpp"
#include "waiter.hpp"

namespace vow {
inline namespace v1 {
namespace detail {

/// The coroutine's own part of its frame. It begins on the calling thread, and frees itself.
template <class T> class coroutine_of : public coroutine_base {
  public:
    coroutine_of() {
        ++coroutines_begun;
        vow_resolver *settles = nullptr;
        // Once cancelled, the promise is pending until the frame has ended: children borrow from
        // the frame.
        promise_ = promise<T>::adopt(vow_promise_create_with(&settles, VOW_COOPERATIVE));
        resolver_ = resolver<T>::adopt(settles);
        give_up = [](coroutine_base &base) noexcept {
            auto &self = static_cast<coroutine_of &>(base);
            if (self.state != nullptr && self.state->is_cancelled())
                self.end(value());
            else
                self.end(value::adopt(no_executor_is_left()));
        };
    }
    coroutine_of(const coroutine_of &) = delete;
    coroutine_of &operator=(const coroutine_of &) = delete;
    ~coroutine_of() {
        if (state != nullptr)
            state->release();
    }

    promise<T> get_return_object() noexcept {
        return std::move(promise_);
    }
    std::suspend_never initial_suspend() const noexcept {
        return {};
    }
    auto final_suspend() noexcept {
        struct ending {
            bool await_ready() const noexcept {
                return false;
            }
            void await_suspend(std::coroutine_handle<> frame) const noexcept {
                static_cast<void>(frame);
                self->end(std::move(self->result_));
            }
            void await_resume() const noexcept {
            }
            coroutine_of *self;
        };
        return ending{this};
    }
    void unhandled_exception() noexcept {
        result_ = value::adopt(current_error());
    }

    /// For co_await: the promise to cancel. Throws std::bad_alloc, vow::error.
    void prepare_to_wait() {
        if (state != nullptr)
            return;
        state = new coroutine_state;
        state->retain();
        const int status = vow_resolver_on_cancel(
            resolver_.native(),
            [](void *context) noexcept { static_cast<coroutine_state *>(context)->cancel(); },
            state,
            [](void *context) noexcept { static_cast<coroutine_state *>(context)->release(); });
        if (status != 0)
            throw std::bad_alloc();
    }

  protected:
    void keep_result(vow_value owned) noexcept {
        result_ = value::adopt(owned);
    }

  private:
    /// All of the frame is destroyed before its promise settles.
    void end(value result) noexcept;

    promise<T> promise_;
    resolver<T> resolver_;
    value result_;
};

template <class T> class coroutine_promise final : public coroutine_of<T> {
  public:
    /// co_return of a T, or of a `promise<T>`, which is followed.
    template <class U = T> void return_value(U &&content) {
        if constexpr (is_promise<std::decay_t<U>>::value) {
            static_assert(std::is_base_of_v<promise<T>, std::decay_t<U>>,
                          "this coroutine returns a promise of another type");
            this->keep_result(vow_from_promise(promise<T>(std::forward<U>(content)).release()));
        } else if constexpr (settles_by<U, T>) {
            this->keep_result(write_expected<T>(std::forward<U>(content)));
        } else {
            static_assert(std::is_convertible_v<U &&, T>, "this is no value of the promise");
            this->keep_result(value_traits<T>::write(converted<T>(std::forward<U>(content))));
        }
    }
};

template <> class coroutine_promise<void> final : public coroutine_of<void> {
  public:
    void return_void() noexcept {
    }
};

/// Settles a coroutine's promise. A cancelled promise has no reader for a failure of its clean-up,
/// so the failure is reported.
inline void settle_coroutine(vow_resolver *settles, value result, bool cleans_up) noexcept {
    const value failure = result.is_error() ? result : value();
    if (!vow_resolve(settles, result.release()) && cleans_up)
        report_unless_cancelled(failure.native());
}

/// The same (settles is consumed) when a promise that a cancelled coroutine returned has ended;
/// that is cancelled, too.
inline void settle_coroutine_after(vow_resolver *settles, vow_promise *last) noexcept {
    vow_cancel(last);
    vow_reaction reaction = inline_reaction(settles, [](void *context) noexcept {
        vow_resolver_release(static_cast<vow_resolver *>(context));
    });
    reaction.on_rejected = [](vow_value outcome, void *context) noexcept {
        settle_coroutine(static_cast<vow_resolver *>(context), value::borrow(outcome), true);
        return vow_none();
    };
    vow_promise_release(vow_then_with(last, &reaction));
}

template <class T> void coroutine_of<T>::end(value result) noexcept {
    resolver<T> settles = std::move(resolver_);
    const bool is_cancelled = state != nullptr && state->is_cancelled();
    const bool cleans_up = state != nullptr && state->knows();
    std::coroutine_handle<coroutine_promise<T>>::from_promise(
        static_cast<coroutine_promise<T> &>(*this))
        .destroy();
    if (is_cancelled && result.kind() == VOW_PROMISE)
        settle_coroutine_after(settles.release(), vow_promise_with(result.release()));
    else
        settle_coroutine(settles.native(), std::move(result), cleans_up);
}

template <class P> inline constexpr bool is_own_coroutine = std::is_base_of_v<coroutine_base, P>;

/// Suspends a coroutine, ours or another library's, by a waiter in its frame. False: ours is
/// cancelled.
template <class P>
bool suspend_by(waiter &by, std::coroutine_handle<P> handle, vow_promise *awaited,
                const executor &where, bool is_shielded) {
    try {
        if constexpr (is_own_coroutine<P>) {
            handle.promise().prepare_to_wait();
        } else {
            by.suspend(handle, awaited, where);
            return true;
        }
    } catch (...) {
        vow_promise_release(awaited);
        throw;
    }
    if constexpr (is_own_coroutine<P>)
        return by.suspend(handle, &handle.promise(), awaited, where, is_shielded);
}

/// Waits for a `promise<T>`; on an executor, also for a settled one.
template <class T, reading How = reading::last> class promise_awaiter {
  public:
    explicit promise_awaiter(promise<T> awaited, bool is_shielded = false) noexcept
        : awaited_(std::move(awaited)), is_shielded_(is_shielded) {
    }
    promise_awaiter(promise<T> awaited, executor where) noexcept
        : awaited_(std::move(awaited)), where_(std::move(where)), is_elsewhere_(true) {
    }

    bool await_ready() noexcept {
        vow_value native;
        if (is_elsewhere_ || !vow_promise_peek(awaited_.native(), &native))
            return false;
        waiter_.keep(native);
        return true;
    }
    template <class P> bool await_suspend(std::coroutine_handle<P> handle) {
        return suspend_by(waiter_, handle, awaited_.release(), where_, is_shielded_);
    }
    T await_resume() {
        const vow_value outcome = waiter_.outcome();
        if (outcome.kind == VOW_ERROR)
            throw_error(outcome);
        awaited_.reset();
        return read<How, T>(waiter_.take_outcome());
    }

  private:
    promise<T> awaited_;
    executor where_;
    bool is_shielded_ = false;
    bool is_elsewhere_ = false;
    waiter waiter_;
};

/// Asks for a coroutine's own data, without a suspension.
template <class Ask> class asking {
  public:
    explicit asking(Ask ask) noexcept : ask_(ask) {
    }
    bool await_ready() const noexcept {
        return false;
    }
    template <class P> bool await_suspend(std::coroutine_handle<P> handle) {
        static_assert(is_own_coroutine<P>, "only for coroutines that return a vow::promise");
        handle.promise().prepare_to_wait();
        answer_ = ask_(*handle.promise().state);
        return false;
    }
    auto await_resume() noexcept {
        return std::move(answer_);
    }

  private:
    Ask ask_;
    std::invoke_result_t<Ask, coroutine_state &> answer_{};
};

template <class T> struct taken { promise<T> from; };

} // namespace detail

/// `co_await p`: the value, or throws. Goes on at once if p is settled; else on the executor of a
/// handler that is registered here. `co_await std::move(p)`, or of a temporary, gives the handle
/// away while it waits, so that cancelling the coroutine cancels p, unless p has another reader.
/// `co_await vow::shield(p)` waits to the end, also in a coroutine that is cancelled.
template <class P, std::enable_if_t<detail::is_promise<std::decay_t<P>>::value, int> = 0>
auto operator co_await(P &&awaited) noexcept {
    using content = typename std::decay_t<P>::value_type;
    static_assert(detail::is_shareable_v<content> || !std::is_lvalue_reference_v<P>,
                  "this value can only be moved: co_await std::move(p)");
    return detail::promise_awaiter<content>(std::forward<P>(awaited),
                                            std::is_same_v<std::decay_t<P>, shielded<content>>);
}

/// `co_await vow::take(p)`: the value moved out of p, whatever its type.
template <class T> detail::taken<T> take(promise<T> from) noexcept {
    return {std::move(from)};
}
namespace detail {
template <class T> auto operator co_await(taken<T> &&awaited) noexcept {
    return promise_awaiter<T, reading::taken>(std::move(awaited.from));
}
} // namespace detail

/// `co_await vow::resume_on(executor)`: goes on there.
inline auto resume_on(executor where) noexcept {
    return detail::promise_awaiter<void>(promise<void>::adopt(vow_promise_with(vow_none())),
                                         std::move(where));
}

/// `co_await vow::stop_requested()`: whether the coroutine's promise was cancelled or has lost its
/// last reader. The next co_await that would suspend throws vow::cancelled then.
inline auto stop_requested() noexcept {
    return detail::asking([](detail::coroutine_state &state) { return state.hears(); });
}

/// `co_await vow::current_token()`: a token that is cancelled when the coroutine's promise is, or
/// loses its last reader.
inline auto current_token() noexcept {
    return detail::asking([](detail::coroutine_state &state) { return state.token(); });
}

} // namespace v1
} // namespace vow

/// A function that returns a vow::promise may be a coroutine. It runs on the calling thread, inside
/// the call, up to its first suspension. Cancelling its promise, or dropping the last handle
/// unread, has its co_await throw vow::cancelled, on its executor. If no executor is left to go on,
/// it is destroyed, and its promise rejected with errc::shut_down.
template <class T, class... Arguments> struct std::coroutine_traits<vow::promise<T>, Arguments...> {
    using promise_type = vow::detail::coroutine_promise<T>;
};

#endif
