/// A counted reference to something of vow.h: copying retains, destroying releases.
#ifndef VOW_HANDLE_HPP
#define VOW_HANDLE_HPP

#include "config.hpp"

#include <utility>

namespace vow {
inline namespace v1 {
namespace detail {

/// What promise, resolver, executor, token and cancel_source have in common. A handle is empty when
/// made by default, moved from, or when the library had no memory for what it should hold. Threads:
/// as a std::shared_ptr, one handle is for one thread at a time, copies are independent.
template <class Native, Native *(*Retain)(Native *), void (*Release)(Native *)> class handle {
  public:
    handle() noexcept = default;
    handle(const handle &other) noexcept : native_(Retain(other.native_)) {
    }
    handle(handle &&other) noexcept : native_(std::exchange(other.native_, nullptr)) {
    }
    handle &operator=(handle other) noexcept {
        std::swap(native_, other.native_);
        return *this;
    }
    ~handle() {
        if (native_ != nullptr)
            Release(native_);
    }

    /// Whether there is anything behind the handle.
    explicit operator bool() const noexcept {
        return native_ != nullptr;
    }

    /// The C handle, borrowed.
    [[nodiscard]] Native *native() const noexcept {
        return native_;
    }

    /// Gives the reference to the caller, who releases it; the handle is empty then.
    [[nodiscard]] Native *release() noexcept {
        return std::exchange(native_, nullptr);
    }

    /// Releases the reference.
    void reset() noexcept {
        if (native_ != nullptr)
            Release(std::exchange(native_, nullptr));
    }

    friend bool operator==(const handle &a, const handle &b) noexcept {
        return a.native_ == b.native_;
    }
    friend bool operator!=(const handle &a, const handle &b) noexcept {
        return a.native_ != b.native_;
    }

  protected:
    /// Consumes one reference.
    explicit handle(Native *owned) noexcept : native_(owned) {
    }

  private:
    Native *native_ = nullptr;
};

} // namespace detail
} // namespace v1
} // namespace vow

#endif
