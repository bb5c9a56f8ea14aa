/// The promise of a T; and its outcome as an object.
#ifndef VOW_PROMISE_HPP
#define VOW_PROMISE_HPP

#include "reaction.hpp"

namespace vow {
inline namespace v1 {

enum class state : vow_state {
    pending = VOW_PENDING,
    fulfilled = VOW_FULFILLED,
    rejected = VOW_REJECTED,
};

/// The outcome of a settled `promise<T>`.
template <class T> class outcome {
  public:
    /// Wraps a C value; a VOW_ERROR is a rejection.
    explicit outcome(value native) noexcept : native_(std::move(native)) {
    }

    [[nodiscard]] bool has_value() const noexcept {
        return !native_.is_error();
    }
    explicit operator bool() const noexcept {
        return has_value();
    }

    /// A copy of the value, or throws the exception.
    T get() const {
        throw_if_rejected();
        return detail::read<detail::reading::copied, T>(native_);
    }

    /// The value moved out, or throws the exception.
    T take() const {
        throw_if_rejected();
        return detail::read<detail::reading::taken, T>(native_);
    }

    /// The exception; an empty pointer when there is a value.
    [[nodiscard]] std::exception_ptr exception() const noexcept {
        return has_value() ? nullptr : detail::exception_of(native_.native());
    }

    /// The C value or error, borrowed.
    [[nodiscard]] vow_value native() const noexcept {
        return native_.native();
    }

    void throw_if_rejected() const {
        if (!has_value())
            detail::throw_error(native_.native());
    }

  private:
    value native_;
};

/// As an object; or as vow_all_settled puts it into its list: a value, or an error.
template <class T> struct value_traits<outcome<T>> {
    static vow_value write(outcome<T> &&content) {
        return detail::write_object(std::move(content));
    }
    static outcome<T> read(vow_value native) {
        if (const auto *found = detail::box<outcome<T>>::in(native))
            return found->shared();
        return outcome<T>(value::borrow(native));
    }
};

/// Whether a time-out waits for the end of the cancelled work: `p.timeout(1s, vow::prompt)` does
/// not.
struct promptness {
    bool is_prompt = false;
};
VOW_OF_EACH_OBJECT inline constexpr promptness prompt{true};

namespace detail {
template <class R> using promise_of = promise<content_t<R>>;

/// A time-out that waits for the end of the cancelled work. The last of three settles its promise:
/// its maker, the link that sees that end, or the link that has the outcome.
struct limit {
    vow_resolver *settles;
    value outcome{};
    value failure{}; ///< of what was limited
    std::atomic<int> count{3};

    static void drop(void *context) noexcept {
        auto *const self = static_cast<limit *>(context);
        if (self->count.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        vow_resolver *const settles = self->settles;
        value outcome = std::move(self->outcome);
        const value failure = std::move(self->failure);
        delete self;
        if (failure.is_error() && failure.native().as.pointer != outcome.native().as.pointer)
            report_unless_cancelled(failure.native());
        vow_resolve(settles, outcome.release());
        vow_resolver_release(settles);
    }
    static vow_value see_end(vow_value outcome, void *context) noexcept {
        if (outcome.kind == VOW_ERROR)
            static_cast<limit *>(context)->failure = value::borrow(outcome);
        return vow_none();
    }
    static vow_value decide(vow_value outcome, void *context) noexcept {
        static_cast<limit *>(context)->outcome = value::borrow(outcome);
        return vow_none();
    }
    vow_promise *link(vow_promise *promise, vow_handler handler, std::uint32_t flags) noexcept {
        vow_reaction reaction = inline_reaction(this, drop);
        reaction.flags = flags;
        reaction.on_fulfilled = handler;
        reaction.on_rejected = handler;
        return vow_then_with(promise, &reaction);
    }
};

/// vow_timeout of a promise (consumed), which waits for the end of the cancelled work.
inline vow_promise *limited(vow_promise *given, std::int64_t nanoseconds) noexcept {
    if (nanoseconds < 0 || vow_promise_state(given) != VOW_PENDING)
        return vow_timeout(given, nanoseconds);
    vow_resolver *settles = nullptr;
    vow_promise *const made = vow_promise_create_with(&settles, VOW_COOPERATIVE);
    auto *const self = new (std::nothrow) limit{settles};
    if (settles == nullptr || self == nullptr) {
        vow_resolve(settles, vow_error("vow", VOW_ENOMEM, "no memory for a time-out"));
        vow_resolver_release(settles);
        vow_promise_release(given);
        delete self;
        return made;
    }
    vow_promise *const timed = self->link(
        vow_timeout(self->link(given, limit::see_end, VOW_FINALLY), nanoseconds), limit::decide, 0);
    // Cancelled, or without a reader.
    vow_resolver_on_cancel(
        settles, [](void *context) noexcept { vow_cancel(static_cast<vow_promise *>(context)); },
        timed,
        [](void *context) noexcept { vow_promise_release(static_cast<vow_promise *>(context)); });
    limit::drop(self);
    return made;
}

} // namespace detail

/// Reads a result that is there now or later: one T, or the exception that stands in its place.
///
/// A handle, copied as a std::shared_future is: copies read the same result. Each member function
/// that makes a new promise comes twice: `std::move(p).then(f)` gives the handle away, `p.then(f)`
/// keeps it.
///
/// Values are shared by all readers. A reader gets a `const T&` or a copy; a T that can only be
/// moved is moved out, by one reader, through `std::move(p)` or a temporary; take() and a handler
/// with a `T&&` do so with any T. A later reader gets vow::error (errc::invalid_argument); a reader
/// at the same time is a data race.
///
/// Exceptions: an exception of a handler rejects the promise of its result, and comes out, as the
/// same object, where that is read. Rejections of C come out as vow::error or a type derived from
/// it. Functions that make a promise throw std::bad_alloc when there is no memory for a handler;
/// out of memory in the library is a rejection. Threads: as a std::shared_ptr.
///
/// Dropping the last handle of a chain does not stop the chain. But a promise without a reader is
/// not wanted any more, and its producer (a delay, a coroutine) is notified of that; detach()
/// prevents it.
template <class T>
class [[nodiscard]] promise
    : public detail::handle<promise<T>, vow_promise, vow_promise_retain, vow_promise_release> {
  public:
    using value_type = T;

    using promise::handle::handle;
    /// Empty: reading it gives errc::invalid_argument.
    promise() noexcept = default;

    // Chaining
    // ---------------------------------------------------------------------------------------

    // An executor or `options` may come behind a handler, and say where it runs and more about its
    // link. Without it, the executor is that of the thread which registers.

    /// Calls `f` with the value; a rejection passes through. f takes `const T&`, `T`, `T&&` or
    /// nothing (for a tuple also its items), and returns void, a U, a `promise<U>`, or, in C++23, a
    /// `std::expected<U, E>`, by which the new promise is settled. It is destroyed once, with its
    /// captures, before the new promise settles: after its call, when a promise that it returned is
    /// through, or when it is certain that there will be no call. Returns a `promise<U>`.
    template <class F, class W = options, detail::if_where<W> = 0>
    auto then(F f, const W &where = {}) && {
        using result = detail::value_result_t<F, T>;
        using content = detail::content_t<result>;
        return promise<content>::adopt(
            detail::link<detail::on::value, detail::may_use_captures_later<F, result>>(
                this->release(), detail::reaction_with(where),
                detail::value_handler<T, content>(std::move(f))));
    }
    template <class F, class W = options, detail::if_where<W> = 0>
    auto then(F f, const W &where = {}) const & {
        static_assert(
            !detail::takes_away(detail::how_taken<F, T>()),
            "this handler takes the value away: call then on an rvalue, std::move(p).then(...)");
        return promise(*this).then(std::move(f), where);
    }

    /// Calls `f` when the promise is rejected, as a catch clause: the type of f's parameter selects
    /// the exceptions, others pass through. Without a parameter, or with a std::exception_ptr, it
    /// is for all; with a std::error_code, for what is or has one. `recover<E>(f)` names the type,
    /// which an `auto` parameter does not. f returns a T, a `promise<T>`, or throws; `throw;`
    /// passes on what it was called for, and std::current_exception() is that (before a coroutine's
    /// first suspension). For that the exception is thrown once, unless f is noexcept.
    template <class E = detail::by_parameter, class F, class W = options, detail::if_where<W> = 0>
    promise recover(F f, const W &where = {}) && {
        using caught = detail::caught_t<E, F>;
        if constexpr (detail::can_handle<caught, F>())
            return promise(
                detail::link<detail::on::error, detail::error_handler_may_use_later<F, caught>>(
                    this->release(), detail::reaction_with(where),
                    detail::error_handler<caught, T>(std::move(f))));
        else
            std::terminate(); // one error says enough
    }
    template <class E = detail::by_parameter, class F, class W = options, detail::if_where<W> = 0>
    promise recover(F f, const W &where = {}) const & {
        return promise(*this).template recover<E>(std::move(f), where);
    }
    /// The same for one of the library's own codes. f takes a `const vow::error&` or nothing.
    template <class F, class W = options, detail::if_where<W> = 0>
    promise recover(errc code, F f, const W &where = {}) && {
        return std::move(*this).recover("vow", static_cast<std::int64_t>(code), std::move(f),
                                        where);
    }
    template <class F, class W = options, detail::if_where<W> = 0>
    promise recover(errc code, F f, const W &where = {}) const & {
        return promise(*this).recover(code, std::move(f), where);
    }
    /// The same for a domain (a static string) and a code (VOW_ANY_CODE: every one).
    template <class F, class W = options, detail::if_where<W> = 0>
    promise recover(const char *domain, std::int64_t code, F f, const W &where = {}) && {
        if constexpr (detail::can_handle<error, F>())
            return promise(
                detail::link<detail::on::error, detail::error_handler_may_use_later<F, error>>(
                    this->release(), detail::reaction_with(where),
                    detail::error_handler<T>(domain, code, std::move(f))));
        else
            std::terminate(); // one error says enough
    }
    template <class F, class W = options, detail::if_where<W> = 0>
    promise recover(const char *domain, std::int64_t code, F f, const W &where = {}) const & {
        return promise(*this).recover(domain, code, std::move(f), where);
    }

    /// Calls `f` with an `outcome<T>` in either case.
    template <class F, class W = options, detail::if_where<W> = 0>
    auto settled(F f, const W &where = {}) && {
        using result = std::invoke_result_t<F, outcome<T>>;
        using content = detail::content_t<result>;
        // One function for both: kept once, called once.
        return promise<content>::adopt(
            detail::link<detail::on::both, detail::may_use_captures_later<F, result>>(
                this->release(), detail::reaction_with(where),
                [f = std::move(f)](vow_value input) mutable {
                    return detail::call_with_own<content>(std::move(f),
                                                          outcome<T>(value::borrow(input)));
                }));
    }
    template <class F, class W = options, detail::if_where<W> = 0>
    auto settled(F f, const W &where = {}) const & {
        return promise(*this).settled(std::move(f), where);
    }

    /// Calls `f` without arguments in either case, and then passes the outcome on. An exception of
    /// f rejects; a promise that f returns is waited for, and counts if it is rejected. f is called
    /// exactly once, also when the chain is cancelled.
    template <class F, class W = options, detail::if_where<W> = 0>
    promise finally(F f, const W &where = {}) && {
        static_assert(std::is_invocable_v<F>, "finally's function is called without arguments");
        using result = std::invoke_result_t<F>;
        using content =
            std::conditional_t<detail::is_promise<result>::value, detail::content_t<result>, void>;
        vow_reaction reaction = detail::reaction_with(where);
        reaction.flags = VOW_FINALLY;
        return promise(detail::link<detail::on::both, detail::may_use_captures_later<F, result>>(
            this->release(), reaction, [f = std::move(f)](vow_value) mutable {
                return detail::call_and_write<content>(std::move(f));
            }));
    }
    template <class F, class W = options, detail::if_where<W> = 0>
    promise finally(F f, const W &where = {}) const & {
        return promise(*this).finally(std::move(f), where);
    }

    /// Lets the work of the promise run to its end without a reader. A rejection is reported as
    /// unhandled.
    void detach() &&noexcept {
        vow_detach(this->release());
    }

    /// The same promise, read as another type: void reads everything, vow::value any content. A
    /// content of another type is an error where it is read.
    template <class U> promise<U> as() &&noexcept {
        return promise<U>::adopt(this->release());
    }
    template <class U> promise<U> as() const &noexcept {
        return promise<U>::borrow(this->native());
    }

#if defined(__cpp_lib_expected)
    /// The promise of a std::expected: its error is a rejection that is an E (std::exception_ptr:
    /// every one; std::error_code: what is or has a code; an exception type: as a catch clause).
    /// Other rejections are unchanged.
    template <class E = std::exception_ptr> promise<std::expected<T, E>> as_expected() && {
        const auto make = [](vow_value input) {
            return value_traits<std::expected<T, E>>::write(
                detail::expected_of<T, E>(value::borrow(input)));
        };
        return promise<std::expected<T, E>>::adopt(detail::link<detail::on::both, false>(
            this->release(), detail::reaction_with(inline_executor()), make));
    }
    template <class E = std::exception_ptr> promise<std::expected<T, E>> as_expected() const & {
        return promise(*this).template as_expected<E>();
    }
#endif

    /// The same outcome, or vow::timed_out when it takes longer. Then this promise is cancelled,
    /// unless it has another reader or handle, and waited for: the new promise settles when the
    /// cancelled work has ended. A failure of its clean-up is reported as unhandled. With
    /// vow::prompt the new promise settles when the time is up, and the cancelled work ends in its
    /// own time.
    promise timeout(detail::length limit, promptness how = {}) &&noexcept {
        return promise(how.is_prompt ? vow_timeout(this->release(), limit.nanoseconds)
                                     : detail::limited(this->release(), limit.nanoseconds));
    }
    promise timeout(detail::length limit, promptness how = {}) const &noexcept {
        return promise(*this).timeout(limit, how);
    }

    // Reading
    // ----------------------------------------------------------------------------------------

    [[nodiscard]] vow::state state() const noexcept {
        return static_cast<vow::state>(vow_promise_state(this->native()));
    }
    [[nodiscard]] bool is_settled() const noexcept {
        return state() != vow::state::pending;
    }

    /// The outcome, if it is settled; a rejection counts as handled then.
    [[nodiscard]] std::optional<outcome<T>> peek() const noexcept {
        vow_value native;
        if (!vow_promise_peek(this->native(), &native))
            return std::nullopt;
        return outcome<T>(value::borrow(native));
    }

    /// Blocks until it is settled: the value, or throws. On the thread of a loop it runs the loop;
    /// in a fiber it suspends the fiber; else it runs the handler of the pool that it waits for, if
    /// no worker has begun that and no limit is given. A temporary, or std::move(p), that was the
    /// last handle moves the value out instead of copying it, once nothing else is left that leads
    /// there. Throws also vow::error (errc::deadlock, errc::forked, errc::invalid_argument), as
    /// vow_await does. For at most so long; else it throws vow::timed_out, and the promise is left
    /// alone, but of a temporary the handle is given up in either case.
    T get(detail::patience limit = {}) const & {
        return detail::read<detail::reading::copied, T>(await(limit));
    }
    T get(detail::patience limit = {}) && {
        promise own(std::move(*this));
        value held = own.await(limit);
        own.reset();
        return detail::read<detail::reading::last, T>(std::move(held));
    }
#if defined(__cpp_lib_expected)
    /// As get, and a rejection that is an E (see as_expected) is not thrown, but returned.
    template <class E = std::exception_ptr> std::expected<T, E> get_expected() const & {
        static_assert(detail::is_shareable_v<T>,
                      "this value can only be moved: std::move(p).get_expected()");
        if constexpr (detail::is_shareable_v<T>)
            return detail::expected_of<T, E>(settled_outcome());
        else
            std::terminate(); // one error says enough
    }
    template <class E = std::exception_ptr> std::expected<T, E> get_expected() && {
        promise last(std::move(*this));
        value outcome = last.settled_outcome();
        last.reset();
        return detail::expected_of<T, E>(std::move(outcome));
    }
#endif
    /// As get, and moves the value out, whatever its type.
    T take() && {
        const promise last(std::move(*this));
        return detail::read<detail::reading::taken, T>(last.await({}));
    }

    /// Blocks until it is settled. A rejection is not thrown, but counts as handled.
    vow::state wait() const {
        return wait_for({});
    }
    /// For at most so long: state::pending when the time is up.
    vow::state wait_for(detail::patience limit) const {
        const int answer = vow_await(this->native(), limit.nanoseconds, nullptr);
        return static_cast<vow::state>(detail::check(answer, "vow::promise::wait: cannot wait"));
    }

    // Cancelling
    // -------------------------------------------------------------------------------------

    /// Cancels the promise: it is not fulfilled any more. The promise that it waits for is
    /// cancelled first, unless that has another reader; a running handler returns first; `recover`
    /// and `finally` are called with vow::cancelled. Then the promise is rejected with that; at
    /// once, if it waits for nothing. True if this call did it; false if the promise was settled or
    /// cancelled before.
    bool cancel() const noexcept {
        return vow_cancel(this->native());
    }
    /// The same with a reason, which is the payload. Throws std::bad_alloc.
    template <class R> bool cancel(R reason) const {
        return vow_cancel_with(this->native(), value::of(std::move(reason)).release());
    }

  private:
    value await(detail::patience limit) const {
        vow_value native = vow_none();
        const int answer = vow_await(this->native(), limit.nanoseconds, &native);
        value held = value::adopt(native);
        if (answer == static_cast<int>(VOW_REJECTED))
            detail::throw_error(native);
        if (answer == static_cast<int>(VOW_PENDING))
            throw timed_out();
        if (answer < 0)
            detail::throw_code(answer, "vow::promise::get: cannot wait");
        return held;
    }

    value settled_outcome() const {
        vow_value native = vow_none();
        detail::check(vow_await(this->native(), VOW_FOREVER, &native),
                      "vow::promise::get_expected: cannot wait");
        return value::adopt(native);
    }
};

} // namespace v1
} // namespace vow

#endif
