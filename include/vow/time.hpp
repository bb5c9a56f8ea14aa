/// Delays and time-outs; and promises that are waited for, and not cancelled.
#ifndef VOW_TIME_HPP
#define VOW_TIME_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// Fulfilled after so long, at the earliest. The timer is removed when the promise is cancelled or
/// loses its last reader.
inline promise<void> delay(detail::length length) noexcept {
    return promise<void>::adopt(vow_delay(length.nanoseconds));
}

/// Fulfilled at that time of a clock, at the earliest; at once, if it is past. How long that is
/// from now is read once: a clock that is set meanwhile moves nothing.
template <class Clock, class Duration>
promise<void> delay_until(std::chrono::time_point<Clock, Duration> when) {
    using seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    // Roughly first: the difference of distant times is no number of nanoseconds.
    const seconds left = seconds(when.time_since_epoch()) - seconds(now.time_since_epoch());
    if (left > seconds(4e9))
        return delay(left);
    if (left < seconds(-1) || when <= now)
        return delay(std::chrono::nanoseconds::zero());
    return delay(std::chrono::ceil<std::chrono::nanoseconds>(when - now));
}

/// The same outcome, or vow::timed_out; see promise::timeout.
template <class T>
promise<T> timeout(promise<T> limited, detail::length limit, promptness how = {}) noexcept {
    return std::move(limited).timeout(limit, how);
}

/// The result of vow::shield: a `promise<T>`, which a coroutine awaits to its end even when it is
/// cancelled.
template <class T> class [[nodiscard]] shielded : public promise<T> {
  public:
    explicit shielded(promise<T> from) noexcept : promise<T>(std::move(from)) {
    }
};

namespace detail {
template <class T> struct is_promise<shielded<T>> : std::true_type {};
template <class T> struct content_of<shielded<T>> { using type = T; };
} // namespace detail

/// Settles as a promise does. Cancelling it leaves that alone: it waits to the end, and is rejected
/// with vow::cancelled then. So `finally` can return clean-up that no cancellation may end; and
/// `co_await vow::shield(p)` waits in a coroutine that is, or will be, cancelled: it throws only
/// what p is rejected with. The next co_await that would suspend throws vow::cancelled.
template <class T> shielded<T> shield(promise<T> from) noexcept {
    return shielded<T>(promise<T>::adopt(vow_shield(from.release())));
}

} // namespace v1
} // namespace vow

#endif
