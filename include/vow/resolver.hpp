/// Settles a promise of a T.
#ifndef VOW_RESOLVER_HPP
#define VOW_RESOLVER_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// The other end of a `promise<T>`: a counted handle. The first call that resolves wins, from any
/// thread; later ones return false and do nothing. When the last copy is dropped before that, the
/// promise is rejected with vow::broken_promise.
template <class T>
class resolver
    : public detail::handle<resolver<T>, vow_resolver, vow_resolver_retain, vow_resolver_release> {
  public:
    using resolver::handle::handle;
    resolver() noexcept = default;

    /// Fulfils. A number of another type must fit: what may lose a part of it is not compiled, but
    /// for an int, which may be a literal. Throws std::bad_alloc when the value needs memory, and
    /// vow::error (errc::invalid_argument) when an int does not fit, and has no effect then.
    template <class U = T, std::enable_if_t<std::is_convertible_v<U &&, U> && !std::is_void_v<T> &&
                                                !detail::is_promise<std::decay_t<U>>::value &&
                                                !detail::settles_by<U, T>,
                                            int> = 0>
    bool resolve(U &&content) const {
        static_assert(std::is_convertible_v<U &&, T>, "this is no value of the promise");
        return vow_resolve(this->native(),
                           value_traits<T>::write(detail::converted<T>(std::forward<U>(content))));
    }
    /// Fulfils a promise<void>.
    template <class U = T, std::enable_if_t<std::is_void_v<U>, int> = 0>
    bool resolve() const noexcept {
        return vow_resolve(this->native(), vow_none());
    }
    /// Has the promise follow another promise.
    bool resolve(promise<T> other) const noexcept {
        return vow_resolve(this->native(), vow_from_promise(other.release()));
    }

#if defined(__cpp_lib_expected)
    /// Fulfils with the value that a std::expected has, or rejects with its error; see
    /// vow/expected.hpp. Throws as the first one does.
    template <class U, class E,
              std::enable_if_t<detail::settles_by<std::expected<U, E>, T>, int> = 0>
    bool resolve(std::expected<U, E> outcome) const {
        return vow_resolve(this->native(), detail::write_expected<T>(std::move(outcome)));
    }
#endif

    /// Rejects with an exception: an object that is thrown to readers, or a std::exception_ptr. A
    /// std::error_code, or a value that converts to one, is thrown as a std::system_error, and a
    /// vow::errc as the library's own exception.
    template <class E> bool reject(E exception) const noexcept {
        return vow_reject(this->native(), detail::error_of_exception(std::move(exception)));
    }

    /// Calls the function once if the promise is cancelled, or loses its last reader, before it is
    /// resolved; on that thread, or at once if it is too late already. The function must not throw,
    /// and is destroyed once. Throws vow::error, std::bad_alloc.
    template <class F> void on_cancel(F &&function) const {
        detail::register_callback(std::forward<F>(function), vow_resolver_on_cancel,
                                  this->native());
    }
    /// The same for as long as the result lives. Throws vow::error, std::bad_alloc.
    template <class F> [[nodiscard]] registration register_on_cancel(F &&function) const {
        vow_registration *owned = nullptr;
        detail::register_callback(std::forward<F>(function), vow_resolver_register, this->native(),
                                  &owned);
        return registration::adopt(owned);
    }
};

/// A promise and its resolver.
template <class T> struct pending_promise {
    vow::promise<T> promise;
    vow::resolver<T> resolver;

    /// The promise goes first, so a pair that is dropped together reports no broken promise.
    ~pending_promise() {
        promise.reset();
    }
};

/// A new one: `auto [promise, resolver] = vow::pending<int>();`
template <class T> [[nodiscard]] pending_promise<T> pending() noexcept {
    vow_resolver *settles = nullptr;
    auto made = promise<T>::adopt(vow_promise_create(&settles));
    return {std::move(made), resolver<T>::adopt(settles)};
}

/// The promise of the work that `f` does with a resolver<T>; an exception of f rejects.
template <class T, class F> promise<T> make_promise(F &&f) {
    static_assert(
        !detail::is_promise<std::decay_t<std::invoke_result_t<F, resolver<T> &>>>::value,
        "make_promise's function settles by its resolver and returns nothing: a coroutine "
        "is called, its promise is the one that it returns");
    auto both = pending<T>();
    try {
        std::invoke(std::forward<F>(f), both.resolver);
    } catch (...) {
        both.resolver.reject(std::current_exception());
    }
    return std::move(both.promise);
}

/// A promise that is fulfilled already. Throws std::bad_alloc.
template <class T> promise<std::decay_t<T>> fulfilled(T &&content) {
    using plain = std::decay_t<T>;
    return promise<plain>::adopt(
        vow_promise_with(value_traits<plain>::write(plain(std::forward<T>(content)))));
}
inline promise<void> fulfilled() noexcept {
    return promise<void>::adopt(vow_promise_with(vow_none()));
}

/// A promise that is rejected already, with an exception as resolver::reject takes it.
template <class T, class E> promise<T> rejected(E exception) noexcept {
    return promise<T>::adopt(vow_promise_with(detail::error_of_exception(std::move(exception))));
}

/// Calls `f` on an executor (none: that of a handler registered here). The promise of its result.
template <class W = options, class F, detail::if_where<W> = 0> auto async(const W &where, F f) {
    return fulfilled().then(std::move(f), where);
}
template <class F> auto async(F f) {
    return fulfilled().then(std::move(f));
}

namespace detail {

/// The function has memory of its own, not in the pointer: a coroutine may use it later, and the
/// fiber may return on another thread than it began on, where no count tells whether one has begun.
template <class F> auto begin_fiber(const vow_reaction &where, F function, std::size_t stack) {
    using content = content_t<std::invoke_result_t<F>>;
    vow_fiber_options given{};
    given.size = sizeof given;
    given.stack = stack;
    given.token = where.token;
    given.destroy = destroy_context<F>;
    given.label = where.label;
    const vow_handler run = [](vow_value, void *context) noexcept {
        return guarded(
            [&] { return call_and_write<content>(std::move(*static_cast<F *>(context))); });
    };
    return promise<content>::adopt(
        vow_fiber(where.executor, run, new F(std::move(function)), &given));
}

} // namespace detail

/// Calls `f` as a fiber, on an executor (none: that of a handler registered here) and on a stack of
/// its own, of so many bytes (0: 64 KiB). The promise of its result. In f, and in the functions
/// that f calls, a wait (`get`, `wait`, a scope's end, `run_until` of the executor's loop) suspends
/// the fiber, and the executor goes on with other work; also in a catch clause. On a loop the fiber
/// stays on the loop's thread; elsewhere it may be on another thread after a wait, so it holds no
/// lock across one. When its promise is cancelled, its waits throw vow::cancelled, or answer
/// state::rejected, except those for a vow::shield. Throws std::bad_alloc.
template <class W = options, class F, detail::if_where<W> = 0>
auto fiber(const W &where, F f, std::size_t stack = 0) {
    return detail::begin_fiber(detail::reaction_with(where), std::move(f), stack);
}
template <class F> auto fiber(F f, std::size_t stack = 0) {
    return detail::begin_fiber(detail::reaction_with(options{}), std::move(f), stack);
}

namespace this_fiber {

/// Lets the executor of the calling fiber do other work first. Throws vow::error: no fiber.
inline void yield() {
    detail::check(vow_fiber_yield(), "vow::this_fiber::yield: the caller is no fiber");
}

} // namespace this_fiber

} // namespace v1
} // namespace vow

#endif
