/// The process as a whole: statistics, unhandled rejections, shutdown; and names for promises.
#ifndef VOW_RUNTIME_HPP
#define VOW_RUNTIME_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// The version of the library that runs.
[[nodiscard]] inline std::uint32_t version() noexcept {
    return vow_version();
}

/// Counters of the whole process.
[[nodiscard]] inline vow_statistics statistics() noexcept {
    vow_statistics counters{};
    counters.size = sizeof counters;
    vow_stats(&counters);
    return counters;
}

/// What is called with a rejection that nobody saw, on the thread that dropped it. nullptr: the
/// default again, a line on standard error. It must not throw.
using unhandled_hook = void (*)(std::exception_ptr);

inline void on_unhandled(unhandled_hook hook) noexcept {
    if (hook == nullptr) {
        vow_on_unhandled(nullptr, nullptr);
        return;
    }
    vow_on_unhandled(
        [](vow_value error, void *context) noexcept {
            reinterpret_cast<unhandled_hook>(context)(detail::exception_of(error));
        },
        reinterpret_cast<void *>(hook));
}

/// Ends the library's work in the process, for good: how many promises are still alive. Throws
/// vow::error (errc::deadlock: called on an executor).
inline std::int64_t shutdown() {
    const std::int64_t alive = vow_shutdown(VOW_FOREVER);
    if (alive < 0)
        detail::throw_code(alive, "vow::shutdown");
    return alive;
}
/// The same, waiting for at most so long for what was queued before.
template <class Rep, class Period> std::int64_t shutdown(std::chrono::duration<Rep, Period> limit) {
    const std::int64_t alive = vow_shutdown(detail::patience(limit));
    if (alive < 0)
        detail::throw_code(alive, "vow::shutdown");
    return alive;
}

} // namespace v1
} // namespace vow

#endif
