/// A promise that is waited for, and not cancelled.
#ifndef VOW_SHIELD_HPP
#define VOW_SHIELD_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// What vow::shield makes: a promise<T>, which a coroutine awaits to its end even when it is
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
