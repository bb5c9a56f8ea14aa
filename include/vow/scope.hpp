/// A place for work that must not be left behind.
#ifndef VOW_SCOPE_HPP
#define VOW_SCOPE_HPP

#include "promise.hpp"

namespace vow {

/// Closing it is a promise of the end of all its members; dropping it cancels them. Can only be
/// moved.
class scope {
  public:
    /// Throws std::bad_alloc.
    scope() : native_(vow_scope_create()) {
        if (native_ == nullptr)
            throw std::bad_alloc();
    }
    scope(scope &&other) noexcept : native_(std::exchange(other.native_, nullptr)) {
    }
    scope &operator=(scope &&other) noexcept {
        std::swap(native_, other.native_);
        return *this;
    }
    ~scope() {
        vow_scope_release(native_);
    }

    /// Makes the promise a member. False: the scope was cancelled, and so is the promise. Throws
    /// std::bad_alloc, vow::error.
    template <class T> bool add(promise<T> member) {
        const int status = vow_scope_add(native_, member.release());
        if (status == VOW_ENOMEM)
            throw std::bad_alloc();
        if (status != 0 && status != VOW_ECANCELLED)
            detail::throw_code(status, "vow::scope::add: the scope was closed, or no promise");
        return status == 0;
    }
    /// Cancels the members, and those that are added later.
    void cancel() noexcept {
        if (native_ != nullptr)
            vow_scope_cancel(native_);
    }
    /// Ends the scope. The promise settles when all members have: with the first error that is no
    /// cancellation, if there is one.
    promise<void> close() &&noexcept {
        return promise<void>::adopt(vow_scope_close(std::exchange(native_, nullptr)));
    }

  private:
    vow_scope *native_;
};

} // namespace vow

#endif
