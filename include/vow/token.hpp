/// One switch for many handlers.
#ifndef VOW_TOKEN_HPP
#define VOW_TOKEN_HPP

#include "callable.hpp"
#include "handle.hpp"

namespace vow {

namespace detail {

/// Gives a function to something of vow.h that calls it once, or not at all, and destroys it once.
template <class F, class Register> void register_callback(F &&function, Register &&enrol) {
    using own = std::decay_t<F>;
    static_assert(std::is_invocable_v<own &>, "this function is called without arguments");
    using place = slot<own>;
    void *context = place::make(own(std::forward<F>(function)));
    const int status =
        enrol([](void *kept) noexcept { place::with(kept, [](own &its) { std::invoke(its); }); },
              context, place::destroyer());
    if (status != 0)
        throw_code(status, "on_cancel: nothing to watch, or no memory");
}

} // namespace detail

/// Tells that work is no longer wanted. A counted reference; an empty one is never cancelled.
class token : public detail::handle<vow_token, vow_token_retain, vow_token_release> {
  public:
    token() noexcept = default;
    [[nodiscard]] static token adopt(vow_token *owned) noexcept {
        return token(owned);
    }
    [[nodiscard]] static token borrow(vow_token *borrowed) noexcept {
        return token(vow_token_retain(borrowed));
    }

    [[nodiscard]] bool is_cancelled() const noexcept {
        return vow_token_is_cancelled(native());
    }
    [[nodiscard]] value reason() const noexcept {
        return value::adopt(vow_token_reason(native()));
    }
    void throw_if_cancelled() const {
        if (is_cancelled())
            throw cancelled();
    }
    /// Calls the function once, when the token is cancelled, on that thread; at once if it is
    /// already. It must not throw. Throws vow::error, std::bad_alloc.
    template <class F> void on_cancel(F &&function) const {
        detail::register_callback(std::forward<F>(function),
                                  [this](auto call, void *context, auto destroy) {
                                      return vow_token_on_cancel(native(), call, context, destroy);
                                  });
    }

  private:
    explicit token(vow_token *owned) noexcept : handle(owned) {
    }
};

/// Cancels the handlers that were registered with its token. A counted reference.
class cancel_source : public detail::handle<vow_cancel_source, vow_cancel_source_retain,
                                            vow_cancel_source_release> {
  public:
    /// Throws std::bad_alloc.
    cancel_source() : cancel_source(vow_cancel_source_create()) {
    }

    /// One that is cancelled also when one of other tokens is. Throws std::bad_alloc.
    [[nodiscard]] static cancel_source linked(const std::vector<vow::token> &parents) {
        std::vector<vow_token *> natives;
        natives.reserve(parents.size());
        for (const vow::token &parent : parents)
            natives.push_back(parent.native());
        return cancel_source(vow_cancel_source_create_linked(natives.data(), natives.size()));
    }

    /// True the first time.
    bool cancel() const noexcept {
        return vow_cancel_source_cancel(native());
    }
    /// The same with a reason, which is the payload of vow::cancelled.
    template <class R> bool cancel(R reason) const {
        return vow_cancel_source_cancel_with(native(), value::of(std::move(reason)).release());
    }
    [[nodiscard]] vow::token token() const noexcept {
        return vow::token::borrow(vow_cancel_source_token(native()));
    }

  private:
    explicit cancel_source(vow_cancel_source *owned) : handle(owned) {
        if (owned == nullptr)
            throw std::bad_alloc();
    }
};

} // namespace vow

#endif
