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

/// The same outcome, or vow::timed_out; see promise::timeout.
template <class T, class Rep, class Period>
promise<T> timeout(promise<T> limited, std::chrono::duration<Rep, Period> limit) noexcept {
    return std::move(limited).timeout(limit);
}

} // namespace v1
} // namespace vow

#endif
