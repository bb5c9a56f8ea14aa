/// Lengths of time, and the clock that delays go by.
#ifndef VOW_DURATION_HPP
#define VOW_DURATION_HPP

#include "config.hpp"

#include <chrono>
#include <cstdint>
#include <limits>

namespace vow {
inline namespace v1 {

/// The monotonic clock of delays made here and now: the virtual one on a virtual loop's thread.
struct clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() noexcept {
        return time_point(duration(vow_now()));
    }
};

namespace detail {

/// Nanoseconds; what is too long becomes the longest, what is negative INT64_MIN, which no function
/// of vow.h takes for a length (-1 would be VOW_FOREVER).
template <class Rep, class Period>
std::int64_t nanoseconds(std::chrono::duration<Rep, Period> length) noexcept {
    using seconds = std::chrono::duration<double>;
    if (length < std::chrono::duration<Rep, Period>::zero())
        return std::numeric_limits<std::int64_t>::min();
    if (seconds(length) >= seconds(9.2e9))
        return std::numeric_limits<std::int64_t>::max();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(length).count();
}

/// The same for waits, where negative means not at all.
template <class Rep, class Period>
std::int64_t patience(std::chrono::duration<Rep, Period> length) noexcept {
    return length < std::chrono::duration<Rep, Period>::zero() ? 0 : nanoseconds(length);
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
