/// An acquired resource is released.
#ifndef VOW_USING_HPP
#define VOW_USING_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {
namespace detail {

/// Two functions, of which the second gets the argument of the first, too.
template <class T, class Content, class Body, class Release> struct borrowing {
    Body body;
    Release release;

    vow_value use(vow_value input) {
        return call_with<T, Content>(std::move(body), input);
    }
    vow_value give_back(vow_value input) {
        return call_with<T, content_t<value_result_t<Release, T>>>(std::move(release), input);
    }
};

/// One function; and the resource itself, whose destructor is the release.
template <class T, class Content, class Body> struct owning {
    Body body;
    std::optional<T> resource{};
    bool has_come = false;

    T &take(vow_value input) {
        has_come = true;
        return resource.emplace(read<reading::taken, T>(value::borrow(input)));
    }
    vow_value use(vow_value input) {
        return call_and_write<Content>(std::move(body), take(input));
    }
    vow_value give_back(vow_value input) {
        if (!has_come)
            take(input);
        resource.reset();
        return vow_none();
    }
};

/// Uses a promise's resource as these functions say. Throws std::bad_alloc.
template <class T, class Functions>
vow_promise *use(promise<T> resource, const vow_reaction &where, Functions functions) {
    vow_call call = call_with_context(std::make_unique<Functions>(std::move(functions)));
    call.executor = where.executor;
    call.token = where.token;
    call.label = where.label;
    return vow_using_with(
        resource.release(),
        [](vow_value input, void *context) noexcept {
            return guarded([&] { return static_cast<Functions *>(context)->use(input); });
        },
        [](vow_value input, void *context) noexcept {
            return guarded([&] { return static_cast<Functions *>(context)->give_back(input); });
        },
        &call);
}

} // namespace detail

/// Inside `release` of a use: how the body has ended. Rejected: `why` is its exception, and
/// vow::cancelled where it was cancelled. Pending: it was never called. Throws vow::error anywhere
/// else.
inline state use_ended(std::exception_ptr *why = nullptr) {
    vow_value outcome = vow_none();
    const int answer = vow_using_ended(&outcome);
    if (answer < 0)
        detail::throw_code(answer, "vow::use_ended: not inside a release");
    if (why != nullptr)
        *why =
            answer == static_cast<int>(state::rejected) ? detail::exception_of(outcome) : nullptr;
    return static_cast<state>(answer);
}

/// Calls `body` with the resource that a promise brings, and, when that and the promise that it
/// returned is through, `release` with the same; waits for the promise that release returns. The
/// outcome is that of body. An exception of release rejects a success; beside another exception it
/// is reported as unhandled. Cancelling stops the promise of the resource, or body, and never
/// release: a resource that comes all the same is released without having been used. Both take it
/// as a handler does, but body only borrows it (a coroutine takes what is no object of a class,
/// such as a number, as a copy). They are destroyed before the new promise settles. Behind them may
/// stand where they run, as behind a handler.
///
///     auto rows = vow::use(pool.take(), [](connection *c) { return c->query("..."); },
///                          [&](connection *c) { return pool.give_back(c); });
template <class T, class Body, class Release, class W = options, detail::if_where<W> = 0,
          std::enable_if_t<!detail::is_where<Release>, int> = 0>
auto use(promise<T> resource, Body body, Release release, const W &where = {}) {
    static_assert(!detail::takes_away(detail::how_taken<Body, T>()),
                  "the resource is release's, too: body takes it as const T& or T, or not at all");
    using content = detail::content_t<detail::value_result_t<Body, T>>;
    using functions = detail::borrowing<T, content, Body, Release>;
    return promise<content>::adopt(detail::use(std::move(resource), detail::reaction_with(where),
                                               functions{std::move(body), std::move(release)}));
}

/// The same of a resource that releases itself, such as a std::unique_ptr or a lock: it is moved
/// out of its promise, which has no other reader, body is called with a `T&`, and when that is
/// through the resource is destroyed, before the new promise settles. So a coroutine can take it as
/// a `T&`: it outlives its locals.
template <class T, class Body, class W = options, detail::if_where<W> = 0>
auto use(promise<T> resource, Body body, const W &where = {}) {
    static_assert(!std::is_void_v<T>, "nothing is no resource that releases itself");
    static_assert(std::is_invocable_v<Body, T &>, "body takes the resource as a T&");
    using content = detail::content_t<std::invoke_result_t<Body, T &>>;
    using functions = detail::owning<T, content, Body>;
    return promise<content>::adopt(
        detail::use(std::move(resource), detail::reaction_with(where), functions{std::move(body)}));
}

} // namespace v1
} // namespace vow

#endif
