/// The waiter of a suspended coroutine, by which the library resumes, cancels or gives up the
/// coroutine.
///
/// A waiter is in the coroutine's frame and is the context of one reaction. The library calls the
/// reaction's handler and then, in the same place, its `destroy`, as the last thing that it does
/// with the context; or `destroy` alone, when no handler will run. So the handler only keeps the
/// outcome, and destroy decides: it resumes the coroutine, after which the frame may be gone.
#ifndef VOW_WAITER_HPP
#define VOW_WAITER_HPP

#include "reaction.hpp"

#include <coroutine>
#include <mutex>

namespace vow {
inline namespace v1 {
namespace detail {

/// The state that a coroutine shares with its cancellers. Counted; made at the first suspension.
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

    /// Whether the coroutine knows that it is cancelled: a failure before that is like any other,
    /// an exception after it comes out of its clean-up. Only the coroutine, and the thread that
    /// resumes it, may use this.
    [[nodiscard]] bool knows() const noexcept {
        return knows_;
    }
    void tell() noexcept {
        knows_ = true;
    }
    /// Whether it is cancelled, which it knows then.
    bool hears() noexcept {
        return knows_ = knows_ || is_cancelled();
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

    /// The same, when its reaction was not run: the rejection to come is not reported.
    void end_unheard() noexcept {
        if (vow_promise *const reaction = take_reaction())
            leave_alone(reaction);
    }

    /// Releases a reaction (consumed) whose rejection is not to be reported.
    static void leave_alone(vow_promise *reaction) noexcept {
        if (vow_promise_state(reaction) == VOW_PENDING) {
            vow_reaction hears = inline_reaction(nullptr, nullptr);
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
        std::optional<cancel_source> source;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            is_cancelled_.store(true, std::memory_order_release);
            reaction = std::exchange(reaction_, nullptr);
            source = source_;
        }
        if (source)
            source->cancel();
        if (reaction != nullptr)
            vow_cancel(reaction);
        vow_promise_release(reaction);
    }

    /// A token that is cancelled with the coroutine. Throws std::bad_alloc.
    vow::token token() {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (!source_) {
            source_.emplace();
            if (is_cancelled())
                source_->cancel(); // nobody has its token yet: nothing is called
        }
        return source_->token();
    }

  private:
    vow_promise *take_reaction() noexcept {
        const std::lock_guard<std::mutex> guard(mutex_);
        ++wait_;
        return std::exchange(reaction_, nullptr);
    }

    std::atomic<std::uint32_t> count_{1};
    std::atomic<bool> is_cancelled_{false};
    bool knows_ = false;
    std::mutex mutex_;
    std::uint64_t wait_ = 0;
    vow_promise *reaction_ = nullptr;
    std::optional<cancel_source> source_;
};

/// A reaction that has the waiter keep the outcome, and then go on.
template <class Waits> vow_reaction reaction_of(Waits *waits, const executor &where) noexcept {
    vow_reaction reaction = reaction_with(where);
    reaction.on_fulfilled = reaction.on_rejected = [](vow_value outcome, void *context) noexcept {
        static_cast<Waits *>(context)->settled(outcome);
        return vow_none();
    };
    reaction.context = waits;
    reaction.destroy = [](void *context) noexcept { static_cast<Waits *>(context)->finished(); };
    return reaction;
}

inline vow_value no_executor_is_left() noexcept {
    return vow_error("vow", VOW_ESHUTDOWN, "no executor is left to resume the coroutine on");
}

/// The wait of a coroutine of another library, whose frame may be destroyed meanwhile. The awaiter
/// in the frame has one reference, the reaction the other. The first of two decides, the outcome or
/// the awaiter's destructor; only the outcome touches the frame.
class foreign_wait {
  public:
    /// Waits for a promise (consumed). Returns a wait of which the caller has a reference, after
    /// the coroutine may have been resumed: it must be in its place before. Throws std::bad_alloc.
    static void begin(std::coroutine_handle<> handle, vow_promise *awaited, const executor &where,
                      foreign_wait *&place) {
        auto *const self = new foreign_wait(handle);
        place = self;
        const vow_reaction reaction = reaction_of(self, where);
        self->retain();
        vow_promise *const link = vow_then_with(awaited, &reaction);
        coroutine_state::leave_alone(vow_promise_retain(link));
        self->waits_by(link);
        self->release();
    }

    /// The awaiter (which gives up its reference) is destroyed: the coroutine is through, or will
    /// not be resumed.
    void leave() noexcept {
        vow_promise *link = nullptr;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            link = std::exchange(link_, nullptr);
            has_left_ = !is_over_;
        }
        if (link != nullptr)
            vow_cancel(link);
        vow_promise_release(link);
        release();
    }

    /// Borrowed, for the coroutine that was resumed.
    [[nodiscard]] vow_value outcome() const noexcept {
        return outcome_.native();
    }
    [[nodiscard]] value take_outcome() noexcept {
        return std::move(outcome_);
    }

  private:
    explicit foreign_wait(std::coroutine_handle<> handle) noexcept : handle_(handle) {
    }
    void retain() noexcept {
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    void release() noexcept {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    /// The reaction (consumed) by which it can be cancelled.
    void waits_by(vow_promise *link) noexcept {
        bool is_unwanted = false;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            is_unwanted = has_left_;
            if (!is_over_ && !has_left_)
                link_ = std::exchange(link, nullptr);
        }
        if (is_unwanted)
            vow_cancel(link);
        vow_promise_release(link);
    }

    template <class Waits> friend vow_reaction reaction_of(Waits *, const executor &) noexcept;
    void settled(vow_value outcome) noexcept {
        outcome_ = value::borrow(outcome);
        has_run_ = true;
    }
    void finished() noexcept {
        if (!has_run_)
            outcome_ = value::adopt(no_executor_is_left());
        vow_promise *link = nullptr;
        bool has_left = false;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            has_left = has_left_;
            is_over_ = true;
            link = std::exchange(link_, nullptr);
        }
        vow_promise_release(link);
        if (!has_left)
            handle_.resume();
        release();
    }

    std::atomic<std::uint32_t> count_{2};
    std::coroutine_handle<> handle_;
    std::mutex mutex_;
    vow_promise *link_ = nullptr;
    bool is_over_ = false;
    bool has_left_ = false;
    bool has_run_ = false;
    value outcome_;
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
    ~waiter() {
        if (foreign_ != nullptr)
            foreign_->leave();
    }

    /// For a coroutine of another library: waits for a promise (consumed) on an executor (empty:
    /// the current one). Throws std::bad_alloc.
    void suspend(std::coroutine_handle<> handle, vow_promise *awaited, const executor &where) {
        foreign_wait::begin(handle, awaited, where ? where : current_executor(), foreign_);
    }

    /// The same for a coroutine of this library. False: it is cancelled, and must not be suspended.
    /// A wait for a shielded promise goes on all the same.
    bool suspend(std::coroutine_handle<> handle, coroutine_base *coroutine, vow_promise *awaited,
                 executor where, bool is_shielded) noexcept {
        handle_ = handle;
        coroutine_ = coroutine;
        where_ = where ? std::move(where) : current_executor();
        coroutine_state *const state = coroutine->state;
        if (is_shielded) {
            state->begin();
            coroutine_state::leave_alone(react(awaited));
            return true;
        }
        // A promise that is still pending is cancelled and waited for: its work may use this frame.
        if (state->is_cancelled() && vow_promise_state(awaited) != VOW_PENDING) {
            vow_promise_release(awaited);
            refuse();
            state->tell();
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
        return foreign_ != nullptr ? foreign_->outcome() : outcome_.native();
    }
    /// The same, for the only time.
    [[nodiscard]] value take_outcome() noexcept {
        return foreign_ != nullptr ? foreign_->take_outcome() : std::move(outcome_);
    }

  private:
    vow_promise *react(vow_promise *awaited) noexcept {
        const vow_reaction reaction = reaction_of(this, where_);
        return vow_then_with(awaited, &reaction);
    }

    template <class Waits> friend vow_reaction reaction_of(Waits *, const executor &) noexcept;
    void settled(vow_value outcome) noexcept {
        if (!is_refused_)
            keep(outcome);
        has_run_ = true;
    }
    void finished() noexcept {
        if (has_run_)
            resume();
        else if (is_refused_ || !is_cancelled())
            give_up();
        else
            resume_cancelled();
    }

    [[nodiscard]] bool is_cancelled() const noexcept {
        return coroutine_->state->is_cancelled();
    }

    void refuse() noexcept {
        is_refused_ = true;
        outcome_ = value::adopt(vow_error("vow", VOW_ECANCELLED, "the coroutine was cancelled"));
    }

    void resume() noexcept {
        coroutine_->state->end();
        if (is_cancelled() && vow_error_code(outcome_.native()) == VOW_ECANCELLED)
            coroutine_->state->tell();
        handle_.resume();
    }

    /// On the coroutine's executor, as it would have gone on otherwise.
    void resume_cancelled() noexcept {
        refuse();
        coroutine_->state->end();
        coroutine_state::leave_alone(react(vow_promise_with(vow_none())));
    }

    /// No executor runs it any more.
    void give_up() noexcept {
        coroutine_->state->end_unheard();
        coroutine_->give_up(*coroutine_);
    }

    std::coroutine_handle<> handle_;
    coroutine_base *coroutine_ = nullptr;
    foreign_wait *foreign_ = nullptr;
    executor where_;
    value outcome_;
    bool has_run_ = false;
    bool is_refused_ = false;
};

} // namespace detail
} // namespace v1
} // namespace vow

#endif
