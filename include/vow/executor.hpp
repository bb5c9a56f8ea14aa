/// Where handlers run.
#ifndef VOW_EXECUTOR_HPP
#define VOW_EXECUTOR_HPP

#include "callable.hpp"

namespace vow {
inline namespace v1 {

/// Runs handlers. A counted reference; given work still runs when the last reference is gone. An
/// empty one means "none given".
class executor
    : public detail::handle<executor, vow_executor, vow_executor_retain, vow_executor_release> {
  public:
    using executor::handle::handle;
    executor() noexcept = default;
};

/// Runs handlers at once, on the settling or registering thread, when the outermost call returns.
[[nodiscard]] inline executor inline_executor() noexcept {
    return executor::borrow(vow_executor_inline());
}

/// libdispatch's global queue: in parallel.
[[nodiscard]] inline executor pool_executor() noexcept {
    return executor::borrow(vow_executor_pool());
}

/// The dispatch main queue, which the program must run.
[[nodiscard]] inline executor main_executor() noexcept {
    return executor::borrow(vow_executor_main());
}

/// One handler at a time, in order. Throws std::bad_alloc.
[[nodiscard]] inline executor serial_executor(const char *label = nullptr) {
    if (auto made = executor::adopt(vow_executor_serial(label)))
        return made;
    throw std::bad_alloc();
}

/// On a dispatch_queue_t of the program, kept as long as the executor. Flags: 0, VOW_BARRIER or
/// VOW_SERIAL. Throws vow::error (errc::invalid_argument).
[[nodiscard]] inline executor dispatch_executor(void *dispatch_queue, std::uint32_t flags = 0) {
    if (auto made = executor::adopt(vow_executor_dispatch(dispatch_queue, flags)))
        return made;
    throw error(errc::invalid_argument, "dispatch_executor: no queue, or unknown flags");
}

/// A piece of work that an executor was given: to be called once, on any thread, later. Can only be
/// moved. Work that is dropped runs there, because the promises that wait for it must not wait for
/// ever.
class work {
  public:
    work(void (*run)(void *), void *state) noexcept : run_(run), state_(state) {
    }
    work(work &&other) noexcept : run_(std::exchange(other.run_, nullptr)), state_(other.state_) {
    }
    work &operator=(work &&other) noexcept {
        work old(std::move(*this));
        run_ = std::exchange(other.run_, nullptr);
        state_ = other.state_;
        return *this;
    }
    ~work() {
        (*this)();
    }
    /// Runs it, the first time.
    void operator()() noexcept {
        if (auto *run = std::exchange(run_, nullptr))
            run(state_);
    }
    explicit operator bool() const noexcept {
        return run_ != nullptr;
    }

  private:
    void (*run_)(void *);
    void *state_;
};

namespace detail {

struct never_current {
    bool operator()() const noexcept {
        return false;
    }
};

template <class Submit, class Current, bool Serial> struct custom {
    Submit submit;
    Current current;

    static void submitted(void *context, void (*run)(void *), void *state) noexcept {
        must_not_throw("the submit function of an executor",
                       [&] { static_cast<custom *>(context)->submit(work(run, state)); });
    }
    static bool is_current(void *context) noexcept {
        return must_not_throw("the current function of an executor",
                              [&] { return static_cast<custom *>(context)->current(); });
    }
    VOW_OF_EACH_OBJECT static inline const vow_executor_class kind = {
        sizeof(vow_executor_class), submitted, is_current, destroy_context<custom>,
        Serial ? VOW_SERIAL : 0};
};

template <bool Serial, class Submit, class Current>
executor make_custom(Submit submit, Current current) {
    static_assert(std::is_invocable_v<Submit &, work>,
                  "a custom executor is a function that takes a vow::work");
    using own = custom<Submit, Current, Serial>;
    auto context = std::unique_ptr<own>(new own{std::move(submit), std::move(current)});
    if (auto made = executor::adopt(vow_executor_custom(&own::kind, context.release())))
        return made;
    throw std::bad_alloc();
}

} // namespace detail

/// An executor of the program's own: `submit(vow::work)` sees to it that the work is called, later,
/// on any thread. `current()` says whether the calling thread is the executor's. submit is called
/// on any thread, with no lock held, and must not throw. Throws std::bad_alloc.
template <class Submit, class Current = detail::never_current>
[[nodiscard]] executor custom_executor(Submit submit, Current current = {}) {
    return detail::make_custom<false>(std::move(submit), std::move(current));
}

/// The same, of one that runs one piece of work at a time, in the order of submission.
template <class Submit, class Current = detail::never_current>
[[nodiscard]] executor custom_serial_executor(Submit submit, Current current = {}) {
    return detail::make_custom<true>(std::move(submit), std::move(current));
}

/// The executor of a handler that is registered here and now.
[[nodiscard]] inline executor current_executor() noexcept {
    return executor::borrow(vow_executor_current());
}

/// Sets the executor of handlers registered outside of handlers, in the whole process. Empty: the
/// pool again.
inline void set_default_executor(const executor &standard) noexcept {
    vow_executor_set_default(standard.native());
}

} // namespace v1
} // namespace vow

#endif
