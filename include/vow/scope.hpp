/// A place for work that must not be left behind.
#ifndef VOW_SCOPE_HPP
#define VOW_SCOPE_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// The options of a scope; see vow_scope_options.
struct scope_options {
    /// The first failure of a member, also a cancellation that the scope has not asked for, cancels
    /// the others.
    bool fail_fast = false;
    /// After so long the scope is cancelled, and its end is vow::timed_out. 0: none.
    std::chrono::nanoseconds deadline{0};
    /// Members that have not ended so long after they were cancelled are reported. 0: none are.
    std::chrono::nanoseconds grace{0};
    /// Names the scope in messages; a static string.
    const char *label = nullptr;
};

/// Closing it is a promise of the end of all its members. Its destructor cancels them, and blocks
/// until they have ended, as std::jthread's does: members may use objects that are older than the
/// scope. (It blocks as promise::wait does: on a loop's thread it runs the loop. In a coroutine
/// vow::with_scope waits without blocking. Where waiting cannot end, in a handler of the serial
/// executor that a member needs, it does not wait, and errc::deadlock is reported as unhandled.)
/// Can only be moved, and shared: a member may have one, and add others.
class scope {
  public:
    /// Throws std::bad_alloc.
    scope() : native_(checked(vow_scope_create())) {
    }
    /// The same with options. Wrong options reject the end.
    explicit scope(const scope_options &options) : native_(checked(made_with(options))) {
    }
    scope(scope &&other) noexcept
        : native_(std::exchange(other.native_, nullptr)), joins_(other.joins_) {
    }
    scope &operator=(scope &&other) noexcept {
        std::swap(native_, other.native_);
        std::swap(joins_, other.joins_);
        return *this;
    }
    ~scope() {
        if (!joins_)
            vow_scope_release(native_);
        else if (native_ != nullptr)
            join();
    }

    /// Another handle of the same scope, for code that adds members: its destructor does not wait,
    /// and cancels only if it is the last handle of an open scope.
    [[nodiscard]] scope share() const noexcept {
        scope other(vow_scope_retain(native_));
        other.joins_ = false;
        return other;
    }

    /// Makes the promise a member, also of a closed scope, until the scope has ended. False: the
    /// scope was cancelled, and so is the promise. Throws std::bad_alloc, vow::error.
    template <class T> bool add(promise<T> member) {
        const int status = vow_scope_add(native_, member.release());
        if (status == VOW_ENOMEM)
            throw std::bad_alloc();
        if (status != 0 && status != VOW_ECANCELLED)
            detail::throw_code(status, "vow::scope::add: the scope has ended, or no promise");
        return status == 0;
    }
    /// Calls `f` as a member, on an executor (none: that of a handler registered here); promises
    /// that it makes are under the scope, and have its deadline. The promise of its result;
    /// rejected, and f is not called, if the scope was cancelled or has ended. Throws
    /// std::bad_alloc.
    template <class F> auto async(const executor &where, F f) {
        return begin(where.native(), std::move(f));
    }
    template <class F> auto async(F f) {
        return begin(nullptr, std::move(f));
    }
    /// Cancels the members, and later ones too.
    void cancel() noexcept {
        if (native_ != nullptr)
            vow_scope_cancel(native_);
    }
    /// Ends the scope, once the last member has. The promise settles when all members have, those
    /// included that are added meanwhile: with the first error that is no
    /// cancellation, if there is one.
    promise<void> close() &&noexcept {
        return promise<void>::adopt(vow_scope_close(std::exchange(native_, nullptr)));
    }
    /// The C handle, borrowed.
    [[nodiscard]] vow_scope *native() const noexcept {
        return native_;
    }

  private:
    explicit scope(vow_scope *native) noexcept : native_(native) {
    }
    static vow_scope *checked(vow_scope *native) {
        if (native == nullptr)
            throw std::bad_alloc();
        return native;
    }
    static vow_scope *made_with(const scope_options &options) noexcept {
        vow_scope_options given{};
        given.size = sizeof given;
        given.flags = options.fail_fast ? VOW_SCOPE_FAIL_FAST : 0;
        given.deadline_ns = options.deadline.count();
        given.grace_ns = options.grace.count();
        given.label = options.label;
        return vow_scope_create_with(&given);
    }
    void join() noexcept {
        vow_scope_cancel(native_);
        vow_promise *end = vow_scope_close(std::exchange(native_, nullptr));
        vow_value native = vow_none();
        int answer = vow_await(end, VOW_FOREVER, &native);
        if (answer == static_cast<int>(VOW_REJECTED) && vow_promise_state(end) == VOW_PENDING) {
            // A fiber that was cancelled waits for shields alone.
            vow_value_release(native);
            end = vow_shield(end);
            answer = vow_await(end, VOW_FOREVER, &native);
        }
        const value outcome = value::adopt(answer >= 0 ? native
                                                       : vow_error("vow", answer,
                                                                   "vow::scope: its members' end "
                                                                   "cannot be waited for here"));
        if (outcome.is_error())
            detail::report_unless_cancelled(outcome.native());
        vow_promise_release(end);
    }
    template <class F> auto begin(vow_executor *where, F f) {
        using result = std::invoke_result_t<F &>;
        using content = detail::content_t<result>;
        constexpr bool may_use_later = detail::may_use_captures_later<F, result>;
        auto body = [f = std::move(f)]() mutable { return detail::call_and_write<content>(f); };
        using place = detail::slot<decltype(body)>;
        const auto run = [](vow_value, void *context) noexcept {
            return detail::guarded([&] {
                return place::template once<may_use_later>(context,
                                                           [](auto &its) { return its(); });
            });
        };
        void *context = place::make(std::move(body));
        return promise<content>::adopt(
            vow_scope_async(native_, where, run, context, place::destroyer()));
    }

    vow_scope *native_;
    bool joins_ = true;
};

} // namespace v1
} // namespace vow

#endif
