/// std::stop_token both ways: C++20. Not a part of vow.hpp: `<stop_token>` is not for nothing.
#ifndef VOW_STOP_TOKEN_HPP
#define VOW_STOP_TOKEN_HPP

#include "token.hpp"

#if !__has_include(<stop_token>) || __cplusplus < 202002L
#error "vow/stop_token.hpp needs C++20"
#endif

#include <stop_token>

#if !defined(__cpp_lib_jthread)
#error "vow/stop_token.hpp needs a standard library that has std::stop_token"
#endif

namespace vow {
inline namespace v1 {

/// The result of vow::to_stop_token: a std::stop_token, wherever one is asked for. Its destructor
/// leaves the token that it was made of.
class linked_stop_token {
  public:
    linked_stop_token(linked_stop_token &&) noexcept = default;
    ~linked_stop_token() {
        leaves_.leave();
        if (of_.is_cancelled()) // and the function may have been about to run
            source_.request_stop();
    }

    operator std::stop_token() const &noexcept {
        return source_.get_token();
    }
    /// For a temporary: the function stays with the token, because no object is left to remove it.
    operator std::stop_token() &&noexcept {
        leaves_.stay();
        return source_.get_token();
    }

    [[nodiscard]] bool stop_requested() const noexcept {
        return source_.stop_requested();
    }
    [[nodiscard]] bool stop_possible() const noexcept {
        return source_.stop_possible();
    }

  private:
    friend linked_stop_token to_stop_token(const token &from);
    explicit linked_stop_token(const token &of) : of_(of) {
        if (!of)
            return;
        source_ = std::stop_source();
        leaves_ = of.register_on_cancel([source = source_]() mutable { source.request_stop(); });
    }

    token of_;
    std::stop_source source_{std::nostopstate};
    registration leaves_;
};

/// A std::stop_token that is stopped when a token is cancelled, for as long as what is returned
/// lives, or for good where that is made a std::stop_token at once; of an empty one, one that never
/// is. What waits for it is called on the thread that
/// cancels. Throws vow::error, std::bad_alloc.
[[nodiscard]] inline linked_stop_token to_stop_token(const token &from) {
    return linked_stop_token(from);
}

namespace detail {
struct cancels {
    cancel_source source;
    void operator()() const noexcept {
        source.cancel();
    }
};
} // namespace detail

/// A token that is cancelled when a std::stop_token is stopped, on that thread, for as long as this
/// lives. It stays where it is made, as a std::stop_callback does.
class stopped_by {
  public:
    /// Throws std::bad_alloc.
    explicit stopped_by(std::stop_token from)
        : source_(), callback_(std::move(from), detail::cancels{source_}) {
    }
    stopped_by(const stopped_by &) = delete;
    stopped_by &operator=(const stopped_by &) = delete;

    [[nodiscard]] vow::token token() const noexcept {
        return source_.token();
    }

  private:
    cancel_source source_;
    std::stop_callback<detail::cancels> callback_;
};

} // namespace v1
} // namespace vow

#endif
