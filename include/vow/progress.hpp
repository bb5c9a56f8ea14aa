/// How far the work for a promise has come.
#ifndef VOW_PROGRESS_HPP
#define VOW_PROGRESS_HPP

#include "resolver.hpp"

namespace vow {
inline namespace v1 {

/// Tells those who listen to the promise how far its work has come: 0 to 1, with a remark or
/// nullptr.
template <class T>
void set_progress(const resolver<T> &work, double fraction, const char *note = nullptr) {
    const int status = vow_resolver_set_progress(work.native(), fraction, note);
    if (status < 0)
        detail::throw_code(status, "vow::set_progress");
}
template <class T>
void set_progress(const promise<T> &work, double fraction, const char *note = nullptr) {
    const int status = vow_promise_set_progress(work.native(), fraction, note);
    if (status < 0)
        detail::throw_code(status, "vow::set_progress");
}

/// The same for the promise of the handler, or the call, that is running on this thread: of an item
/// of vow::map or reduce it is its share. Outside of handlers nothing happens.
inline void set_current_progress(double fraction, const char *note = nullptr) {
    const int status = vow_current_set_progress(fraction, note);
    if (status < 0)
        detail::throw_code(status, "vow::set_current_progress");
}

/// Calls `f(double fraction, std::string_view note)` with the newest progress of a promise, at most
/// once in an interval, on the executor that a handler registered here would get, for as long as
/// what is returned lives; `.stay()` has it called to the end. Of parts of the work never after the
/// promise has settled; that all is done, fraction 1, is told in any case. f must not throw; it is
/// destroyed when the promise is freed, or it has left and no call is running. This is no interest
/// in the result. Throws vow::error, std::bad_alloc.
template <class T, class Rep, class Period, class F>
[[nodiscard]] registration on_progress(const promise<T> &work,
                                       std::chrono::duration<Rep, Period> interval, F f) {
    static_assert(std::is_invocable_v<F &, double, std::string_view>,
                  "on_progress calls f(double fraction, std::string_view note)");
    cancel_source leaves;
    vow_call call{};
    call.size = sizeof call;
    call.context = std::make_unique<F>(std::move(f)).release();
    call.destroy = detail::destroy_context<F>;
    call.token = leaves.token().native();
    const int status = vow_on_progress_with(
        work.native(), detail::nanoseconds(interval),
        [](double fraction, const char *note, void *context) noexcept {
            (*static_cast<F *>(context))(fraction, std::string_view(note != nullptr ? note : ""));
        },
        &call);
    if (status < 0)
        detail::throw_code(status, "vow::on_progress");
    return registration::adopt(leaves.release());
}

} // namespace v1
} // namespace vow

#endif
