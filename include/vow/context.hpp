/// One value that travels along a chain.
#ifndef VOW_CONTEXT_HPP
#define VOW_CONTEXT_HPP

#include "traits.hpp"

namespace vow {
inline namespace v1 {
namespace context {

/// Sets the context from here on: until the running handler returns, or, outside of handlers, on
/// this thread until it is set again. Throws std::bad_alloc.
template <class T> void set(T content) {
    vow_context_set(value::of(std::move(content)).release());
}

/// None from here on.
inline void clear() noexcept {
    vow_context_set(vow_none());
}

/// The context here and now, as C sees it.
[[nodiscard]] inline value current() noexcept {
    return value::borrow(vow_context_get());
}

/// A copy of the context here and now; none if there is none, or one of another type.
template <class T> [[nodiscard]] std::optional<T> get() {
    try {
        return current().as<T>();
    } catch (const error &) {
        return std::nullopt;
    }
}

/// Sets the context, and the one before at the end of the block.
class scoped {
  public:
    template <class T> explicit scoped(T content) : before_(current()) {
        set(std::move(content));
    }
    scoped(const scoped &) = delete;
    scoped &operator=(const scoped &) = delete;
    ~scoped() {
        vow_context_set(before_.release());
    }

  private:
    value before_;
};

} // namespace context
} // namespace v1
} // namespace vow

#endif
