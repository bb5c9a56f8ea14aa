/// Promises in an event loop of the program.
#ifndef VOW_LOOP_HPP
#define VOW_LOOP_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// A serial executor whose handlers run inside run_once, on the program's own thread, and a
/// descriptor to watch. Can only be moved; the destructor ends it, and its queued work is rejected
/// with errc::shut_down. See chapter 7 of vow.h for which thread is the loop's.
class loop {
  public:
    /// Throws std::bad_alloc: no memory, or no descriptors.
    loop() : loop(vow_loop_create()) {
    }
    /// A loop whose clock does not move by itself and is moved by advance, for tests.
    [[nodiscard]] static loop virtual_time() {
        return loop(vow_loop_create_virtual());
    }
    loop(loop &&other) noexcept : native_(std::exchange(other.native_, nullptr)) {
    }
    loop &operator=(loop &&other) noexcept {
        std::swap(native_, other.native_);
        return *this;
    }
    ~loop() {
        vow_loop_destroy(native_);
    }

    [[nodiscard]] vow::executor executor() const noexcept {
        return vow::executor::borrow(vow_loop_executor(native_));
    }
    /// To be watched for input.
    [[nodiscard]] int descriptor() const noexcept {
        return vow_loop_fd(native_);
    }
    /// Waits until something can be run, and runs it; how many ran. Throws vow::error.
    int run_once(detail::patience limit = {}) const {
        return detail::check(vow_loop_run_once(native_, limit.nanoseconds), "vow::loop::run_once");
    }
    /// Runs until the promise is settled. Throws vow::error.
    template <class T>
    state run_until(const promise<T> &wanted, detail::patience limit = {}) const {
        const int answer = vow_loop_run_until(native_, wanted.native(), limit.nanoseconds);
        return static_cast<state>(detail::check(answer, "vow::loop::run_until"));
    }
    /// Moves a virtual clock on. Throws vow::error: no virtual loop.
    int advance(detail::length by) const {
        return detail::check(vow_loop_advance(native_, by.nanoseconds), "vow::loop::advance");
    }
    /// Makes run_once return. From any thread, and from a signal handler.
    void wake() const noexcept {
        vow_loop_wake(native_);
    }
    /// The C handle, borrowed.
    [[nodiscard]] vow_loop *native() const noexcept {
        return native_;
    }

  private:
    explicit loop(vow_loop *owned) : native_(owned) {
        if (owned == nullptr)
            throw std::bad_alloc();
    }

    vow_loop *native_;
};

/// The readiness of a descriptor; combined with |.
enum class readiness : std::uint32_t { read = VOW_READ, write = VOW_WRITE };

[[nodiscard]] constexpr readiness operator|(readiness a, readiness b) noexcept {
    return static_cast<readiness>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr bool operator&(readiness a, readiness b) noexcept {
    return (static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b)) != 0;
}

/// C says for what a descriptor is ready.
template <> struct enumeration<readiness> {
    static constexpr bool has(std::int64_t number) {
        return number >= 0 && number <= (VOW_READ | VOW_WRITE);
    }
};

/// Fulfilled once, with the readiness of the descriptor. Keep the descriptor open until then.
inline promise<readiness> fd_ready(int fd, readiness events) noexcept {
    return promise<readiness>::adopt(vow_fd_ready(fd, static_cast<std::uint32_t>(events)));
}

} // namespace v1
} // namespace vow

#endif
