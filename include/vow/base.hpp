/// The common part of the C++ face: for the compiler, and over vow.h.
///
/// All names are in the inline namespace vow::v1, which programs need not know of. If types and
/// functions of these headers ever change their layout in memory, it becomes v2: then a program
/// built with the old headers and a plug-in built with the new ones share no name with two
/// meanings.
#ifndef VOW_BASE_HPP
#define VOW_BASE_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "vow.hpp needs C++17"
#endif
#if !defined(__cpp_exceptions)
#error "vow.hpp needs exceptions: rejections are thrown"
#endif

#include "../vow.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

/// A variable that each shared object has one of, or the function that a static one is in. Shown to
/// others, g++ would make it unique in the process, and its shared object could not be unloaded.
#define VOW_OF_EACH_OBJECT __attribute__((visibility("hidden")))

/// Shared objects that see each other's symbols share one copy. As `inline` it would be unique.
#define VOW_SHARED_BY_OBJECTS __attribute__((weak, visibility("default")))

namespace vow {
inline namespace v1 {
namespace detail {

/// The common base of promise, resolver, executor, token and cancel_source. A handle is empty when
/// made by default, moved from, or when the library had no memory for its object. Threads: as a
/// std::shared_ptr, one handle is for one thread at a time, copies are independent.
template <class Self, class Native, Native *(*Retain)(Native *), void (*Release)(Native *)>
class handle {
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

    /// Consumes a reference of C. The content of a promise is checked where it is read.
    [[nodiscard]] static Self adopt(Native *owned) noexcept {
        return Self(owned);
    }
    /// Takes a reference of its own.
    [[nodiscard]] static Self borrow(Native *borrowed) noexcept {
        return Self(Retain(borrowed));
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

/// Names the function that threw the handled exception, and ends the process.
[[noreturn, gnu::cold, gnu::noinline]] inline void end_because_thrown(const char *what) noexcept {
    try {
        throw;
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "vow: %s threw an exception: %s\n", what, exception.what());
    } catch (...) {
        std::fprintf(stderr, "vow: %s threw an exception\n", what);
    }
    std::terminate();
}

/// Calls a function that C calls: nothing is thrown through C.
template <class Body> decltype(auto) must_not_throw(const char *what, Body &&body) noexcept {
    try {
        return body();
    } catch (...) {
        end_because_thrown(what);
    }
}

/// Deletes an object that the program has given to the library.
template <class T> void destroy_content(T *content) noexcept {
    if constexpr (std::is_nothrow_destructible_v<T>)
        delete content;
    else
        must_not_throw("the destructor of a capture or a value", [&] { delete content; });
}

/// The same, as C calls it.
template <class T> void destroy_context(void *context) noexcept {
    destroy_content(static_cast<T *>(context));
}

/// A reaction that runs on the settling thread, with its context.
inline vow_reaction inline_reaction(void *context, void (*destroy)(void *)) noexcept {
    vow_reaction reaction{};
    reaction.size = sizeof reaction;
    reaction.executor = vow_executor_inline();
    reaction.context = context;
    reaction.destroy = destroy;
    return reaction;
}
/// The context of the functions of a call, without an executor.
template <class T> vow_call call_with_context(std::unique_ptr<T> context) noexcept {
    vow_call call{};
    call.size = sizeof call;
    call.context = context.release();
    call.destroy = destroy_context<T>;
    return call;
}

} // namespace detail

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

/// Any std::chrono::duration, in nanoseconds; a longer one becomes the longest, a negative one
/// INT64_MIN, which no function of vow.h takes for a length (-1 would be VOW_FOREVER).
struct length {
    std::int64_t nanoseconds;

    template <class Rep, class Period>
    length(std::chrono::duration<Rep, Period> of) noexcept
        : nanoseconds(std::numeric_limits<std::int64_t>::max()) {
        if (of < of.zero())
            nanoseconds = std::numeric_limits<std::int64_t>::min();
        else if (std::chrono::duration<double>(of).count() < 9.2e9)
            nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(of).count();
    }
};

/// The longest wait: a duration, where negative means no wait; or for ever.
struct patience {
    std::int64_t nanoseconds = VOW_FOREVER;

    patience() noexcept = default;
    template <class Rep, class Period>
    patience(std::chrono::duration<Rep, Period> of) noexcept
        : nanoseconds(of < of.zero() ? 0 : length(of).nanoseconds) {
    }
};

} // namespace detail

} // namespace v1
} // namespace vow

#endif
