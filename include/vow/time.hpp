/// Delays and time-outs.
#ifndef VOW_TIME_HPP
#define VOW_TIME_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// Fulfilled after so long, at the earliest. Cancelled, or read by nobody: its timer is gone.
template <class Rep, class Period>
promise<void> delay(std::chrono::duration<Rep, Period> length) noexcept {
    return promise<void>::adopt(vow_delay(detail::nanoseconds(length)));
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
template <class T, class Rep, class Period>
promise<T> timeout(promise<T> limited, std::chrono::duration<Rep, Period> limit) noexcept {
    return std::move(limited).timeout(limit);
}
template <class T, class Rep, class Period>
promise<T> timeout(promise<T> limited, std::chrono::duration<Rep, Period> limit,
                   prompt_t) noexcept {
    return std::move(limited).timeout(limit, prompt);
}

} // namespace v1
} // namespace vow

#endif
