/// What a suspended coroutine leaves with the library, and how it is resumed, cancelled or given
/// up.
///
/// A waiter stands in the coroutine's frame and is the context of one reaction. The library calls
/// the reaction's handler and then, in the same place, its `destroy`, as the last thing that it
/// does with the context; or `destroy` alone, when no handler will run. So the handler only keeps
/// the outcome, and destroy decides: it resumes the coroutine, after which the frame may be gone.
#ifndef VOW_WAITER_HPP
#define VOW_WAITER_HPP

#include "reaction.hpp"

#include <coroutine>
#include <mutex>

namespace vow {
namespace detail {

/// What a coroutine shares with those who may cancel it. Counted; made when it is suspended first.
class coroutine_state {
  public:
    void retain() noexcept {
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    void release() noexcept {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    [[nodiscard]] bool is_cancelled() const noexcept {
        return is_cancelled_.load(std::memory_order_acquire);
    }

    /// The coroutine is about to be suspended; the number of this wait.
    std::uint64_t begin() noexcept {
        const std::lock_guard<std::mutex> guard(mutex_);
        return ++wait_;
    }

    /// The reaction (consumed) that the coroutine waits by. If that wait is over already, it is not
    /// kept.
    void waits_by(vow_promise *reaction, std::uint64_t wait) noexcept {
        bool is_late = false;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            if (wait == wait_ && !is_cancelled()) {
                reaction_ = std::exchange(reaction, nullptr);
            } else {
                is_late = wait == wait_;
            }
        }
        if (is_late)
            vow_cancel(reaction);
        if (reaction != nullptr)
            leave_alone(reaction);
    }

    /// The coroutine goes on: this wait is over.
    void end() noexcept {
        vow_promise_release(take_reaction());
    }

    /// The same, when its reaction was not run, and will be rejected: that is nothing to report.
    void end_unheard() noexcept {
        if (vow_promise *const reaction = take_reaction())
            leave_alone(reaction);
    }

    /// Releases a reaction (consumed) whose rejection is nobody's business.
    static void leave_alone(vow_promise *reaction) noexcept {
        if (vow_promise_state(reaction) == VOW_PENDING) {
            vow_reaction hears = reaction_with(executor());
            hears.executor = vow_executor_inline();
            hears.on_rejected = [](vow_value, void *) noexcept { return vow_none(); };
            reaction = vow_then_with(reaction, &hears);
        } else {
            vow_value seen;
            vow_promise_peek(reaction, &seen);
        }
        vow_promise_release(reaction);
    }

    /// Ends the wait there is, and all to come.
    void cancel() noexcept {
        vow_promise *reaction;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            is_cancelled_.store(true, std::memory_order_release);
            reaction = std::exchange(reaction_, nullptr);
        }
        if (reaction != nullptr)
            vow_cancel(reaction);
        vow_promise_release(reaction);
    }

  private:
    vow_promise *take_reaction() noexcept {
        const std::lock_guard<std::mutex> guard(mutex_);
        ++wait_;
        return std::exchange(reaction_, nullptr);
    }

    std::atomic<std::uint32_t> count_{1};
    std::atomic<bool> is_cancelled_{false};
    std::mutex mutex_;
    std::uint64_t wait_ = 0;
    vow_promise *reaction_ = nullptr;
};

/// How a coroutine of this library ends when nothing can resume it any more.
struct coroutine_base {
    coroutine_state *state = nullptr;
    /// Destroys the frame; its promise is rejected.
    void (*give_up)(coroutine_base &) noexcept = nullptr;
};

class waiter {
  public:
    waiter() noexcept = default;
    waiter(const waiter &) = delete;
    waiter &operator=(const waiter &) = delete;

    /// Waits for a promise (consumed) on an executor (empty: the current one). `coroutine`: nullptr
    /// for one of another library. False: it is cancelled, and must not be suspended.
    bool suspend(std::coroutine_handle<> handle, coroutine_base *coroutine, vow_promise *awaited,
                 executor where) noexcept {
        handle_ = handle;
        coroutine_ = coroutine;
        where_ = where ? std::move(where) : current_executor();
        coroutine_state *const state = coroutine != nullptr ? coroutine->state : nullptr;
        if (state == nullptr) {
            coroutine_state::leave_alone(react(awaited));
            return true;
        }
        // What is pending still is cancelled and waited for: it may use what is in this frame.
        if (state->is_cancelled() && vow_promise_state(awaited) != VOW_PENDING) {
            vow_promise_release(awaited);
            refuse();
            return false;
        }
        // From the registration on the coroutine may run elsewhere, and end: only locals are safe.
        state->retain();
        const std::uint64_t wait = state->begin();
        state->waits_by(react(awaited), wait);
        state->release();
        return true;
    }

    /// An outcome that is there already.
    void keep(vow_value borrowed) noexcept {
        outcome_ = value::borrow(borrowed);
    }

    /// A value, or an error that is to be thrown; borrowed.
    [[nodiscard]] vow_value outcome() const noexcept {
        return outcome_.native();
    }

  private:
    vow_promise *react(vow_promise *awaited) noexcept {
        vow_reaction reaction = reaction_with(where_);
        reaction.on_fulfilled = settled;
        reaction.on_rejected = settled;
        reaction.context = this;
        reaction.destroy = finished;
        return vow_then_with(awaited, &reaction);
    }

    static vow_value settled(vow_value outcome, void *context) noexcept {
        auto *self = static_cast<waiter *>(context);
        if (!self->is_refused_)
            self->keep(outcome);
        self->has_run_ = true;
        return vow_none();
    }

    static void finished(void *context) noexcept {
        auto *self = static_cast<waiter *>(context);
        if (self->has_run_)
            self->resume();
        else if (self->is_refused_ || self->coroutine_ == nullptr || !self->is_cancelled())
            self->give_up();
        else
            self->resume_cancelled();
    }

    [[nodiscard]] bool is_cancelled() const noexcept {
        return coroutine_->state != nullptr && coroutine_->state->is_cancelled();
    }

    void refuse() noexcept {
        is_refused_ = true;
        outcome_ = value::adopt(vow_error("vow", VOW_ECANCELLED, "the coroutine was cancelled"));
    }

    void resume() noexcept {
        if (coroutine_ != nullptr && coroutine_->state != nullptr)
            coroutine_->state->end();
        handle_.resume();
    }

    /// On the coroutine's executor, as it would have gone on otherwise.
    void resume_cancelled() noexcept {
        refuse();
        coroutine_->state->end();
        coroutine_state::leave_alone(react(vow_promise_with(vow_none())));
    }

    /// No executor runs it any more. A coroutine of another library is told, here.
    void give_up() noexcept {
        if (coroutine_ != nullptr) {
            coroutine_->state->end_unheard();
            coroutine_->give_up(*coroutine_);
            return;
        }
        outcome_ = value::adopt(
            vow_error("vow", VOW_ESHUTDOWN, "no executor is left to resume the coroutine on"));
        handle_.resume();
    }

    std::coroutine_handle<> handle_;
    coroutine_base *coroutine_ = nullptr;
    executor where_;
    value outcome_;
    bool has_run_ = false;
    bool is_refused_ = false;
};

} // namespace detail
} // namespace vow

#endif
