/// One switch for many handlers.
#ifndef VOW_TOKEN_HPP
#define VOW_TOKEN_HPP

#include "callable.hpp"

namespace vow {
inline namespace v1 {

namespace detail {

/// Gives a function to something of vow.h that calls it once, or not at all, and destroys it once.
template <class F, class Enrol, class Watched, class... More>
void register_callback(F &&function, Enrol enrol, Watched *watched, More... more) {
    using own = std::decay_t<F>;
    static_assert(std::is_invocable_v<own &>, "this function is called without arguments");
    using place = slot<own>;
    const auto call = [](void *kept) noexcept {
        must_not_throw("a function that is called on cancellation",
                       [&] { place::with(kept, [](own &its) { std::invoke(its); }); });
    };
    void *context = place::make(own(std::forward<F>(function)));
    if (const int status = enrol(watched, call, context, place::destroyer(), more...))
        throw_code(status, "on_cancel: nothing to watch, or no memory");
}

struct registration_handle : handle<registration_handle, vow_registration, vow_registration_retain,
                                    vow_registration_release> {
    using handle::handle;
};
struct listening
    : handle<listening, vow_cancel_source, vow_cancel_source_retain, vow_cancel_source_release> {
    using handle::handle;
};

} // namespace detail

/// The fate of a registered function.
enum class stage : vow_stage {
    waiting = VOW_WAITING,
    running = VOW_RUNNING,
    has_run = VOW_HAS_RUN,
    never_runs = VOW_NEVER_RUNS
};

/// A function that was registered with a token, a resolver or a promise, for as long as this lives:
/// it leaves in the destructor, which waits for nothing. A function that another thread is running
/// then runs on, and its captures are destroyed after it; so it should own the objects that it
/// uses.
class registration {
  public:
    registration() noexcept = default;
    registration(registration &&) noexcept = default;
    registration &operator=(registration &&other) noexcept {
        leave();
        handle_ = std::move(other.handle_);
        source_ = std::move(other.source_);
        return *this;
    }
    ~registration() {
        leave();
    }
    [[nodiscard]] static registration adopt(vow_registration *owned) noexcept {
        registration result;
        result.handle_ = detail::registration_handle::adopt(owned);
        return result;
    }

    /// The same of a function that leaves when a source is cancelled (consumed).
    [[nodiscard]] static registration adopt(vow_cancel_source *owned) noexcept {
        registration result;
        result.source_ = detail::listening::adopt(owned);
        return result;
    }

    /// Removes the function, which is not called any more; from anywhere, also inside it. Returns
    /// its fate.
    vow::stage leave() noexcept {
        if (source_)
            vow_cancel_source_cancel(source_.native());
        return static_cast<vow::stage>(vow_registration_leave(handle_.native()));
    }
    [[nodiscard]] vow::stage stage() const noexcept {
        vow_token *const left = vow_cancel_source_token(source_.native());
        if (left != nullptr && !vow_token_is_cancelled(left))
            return vow::stage::waiting;
        return static_cast<vow::stage>(vow_registration_stage(handle_.native()));
    }
    /// The function stays registered, whatever becomes of this, which is empty then.
    void stay() noexcept {
        handle_.reset();
        source_.reset();
    }
    /// The C handle, borrowed; of a listener none.
    [[nodiscard]] vow_registration *native() const noexcept {
        return handle_.native();
    }

  private:
    detail::registration_handle handle_;
    detail::listening source_;
};

/// Tells that work is no longer wanted. A counted reference; an empty one is never cancelled.
class token : public detail::handle<token, vow_token, vow_token_retain, vow_token_release> {
  public:
    using token::handle::handle;
    token() noexcept = default;

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
        detail::register_callback(std::forward<F>(function), vow_token_on_cancel, native());
    }
    /// The same for as long as the result lives. Throws vow::error, std::bad_alloc.
    template <class F> [[nodiscard]] registration register_on_cancel(F &&function) const {
        vow_registration *owned = nullptr;
        detail::register_callback(std::forward<F>(function), vow_token_register, native(), &owned);
        return registration::adopt(owned);
    }
};

/// Cancels the handlers that were registered with its token. A counted reference.
class cancel_source : public detail::handle<cancel_source, vow_cancel_source,
                                            vow_cancel_source_retain, vow_cancel_source_release> {
  public:
    using handle::handle;
    /// Throws std::bad_alloc.
    cancel_source() : handle(made(vow_cancel_source_create())) {
    }

    /// One that is cancelled also when one of other tokens is. Throws std::bad_alloc.
    [[nodiscard]] static cancel_source linked(const std::vector<vow::token> &parents) {
        std::vector<vow_token *> natives;
        natives.reserve(parents.size());
        for (const vow::token &parent : parents)
            natives.push_back(parent.native());
        return adopt(made(vow_cancel_source_create_linked(natives.data(), natives.size())));
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
    static vow_cancel_source *made(vow_cancel_source *owned) {
        if (owned == nullptr)
            throw std::bad_alloc();
        return owned;
    }
};

} // namespace v1
} // namespace vow

#endif
