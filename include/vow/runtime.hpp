/// The parts beside the promises: the process as a whole, a value that travels along, progress,
/// traces, texts.
#ifndef VOW_RUNTIME_HPP
#define VOW_RUNTIME_HPP

#include "resolver.hpp"
#include "time.hpp"

#include <iosfwd>

namespace vow {
inline namespace v1 {

/// The version of the library that runs.
[[nodiscard]] inline std::uint32_t version() noexcept {
    return vow_version();
}

/// Counters of the whole process.
[[nodiscard]] inline vow_statistics statistics() noexcept {
    vow_statistics counters{};
    counters.size = sizeof counters;
    vow_stats(&counters);
    return counters;
}

/// Is called with an unhandled rejection, on the thread that dropped it. nullptr: the default
/// again, a line on standard error. It must not throw.
using unhandled_hook = void (*)(std::exception_ptr);

inline void on_unhandled(unhandled_hook hook) noexcept {
    if (hook == nullptr) {
        vow_on_unhandled(nullptr, nullptr);
        return;
    }
    vow_on_unhandled(
        [](vow_value error, void *context) noexcept {
            reinterpret_cast<unhandled_hook>(context)(detail::exception_of(error));
        },
        reinterpret_cast<void *>(hook));
}

/// Ends the library's work in the process, for good, and returns the number of live promises.
/// Waits, for at most so long, for earlier work. Throws vow::error (errc::deadlock: called on an
/// executor).
inline std::int64_t shutdown(detail::patience limit = {}) {
    return detail::check(vow_shutdown(limit.nanoseconds), "vow::shutdown");
}

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

/// Sets the context, and the former one at the end of the block.
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

/// Reports the progress of a promise's work to its listeners: 0 to 1, with a remark or nullptr.
template <class T>
void set_progress(const resolver<T> &work, double fraction, const char *note = nullptr) {
    detail::check(vow_resolver_set_progress(work.native(), fraction, note), "vow::set_progress");
}
template <class T>
void set_progress(const promise<T> &work, double fraction, const char *note = nullptr) {
    detail::check(vow_promise_set_progress(work.native(), fraction, note), "vow::set_progress");
}

/// The same for the promise of the handler, or the call, that is running on this thread: for an
/// item of vow::map or reduce it is its share. No effect outside of handlers.
inline void set_current_progress(double fraction, const char *note = nullptr) {
    detail::check(vow_current_set_progress(fraction, note), "vow::set_current_progress");
}

/// Calls `f(double fraction, std::string_view note)` with the newest progress of a promise, at most
/// once in an interval, on the executor that a handler registered here would get, for as long as
/// what is returned lives; `.stay()` has it called to the end. Of parts of the work never after the
/// promise has settled; that all is done, fraction 1, is told in any case. f must not throw; it is
/// destroyed when the promise is freed, or it has left and no call is running. This is no interest
/// in the result. Throws vow::error, std::bad_alloc.
template <class T, class F>
[[nodiscard]] registration on_progress(const promise<T> &work, detail::length interval, F f) {
    static_assert(std::is_invocable_v<F &, double, std::string_view>,
                  "on_progress calls f(double fraction, std::string_view note)");
    cancel_source leaves;
    vow_call call = detail::call_with_context(std::make_unique<F>(std::move(f)));
    call.token = leaves.token().native();
    const int status = vow_on_progress_with(
        work.native(), interval.nanoseconds,
        [](double fraction, const char *note, void *context) noexcept {
            (*static_cast<F *>(context))(fraction, std::string_view(note != nullptr ? note : ""));
        },
        &call);
    if (status < 0)
        detail::throw_code(status, "vow::on_progress");
    return registration::adopt(leaves.release());
}

/// Switches tracing on, with a history in a file (nullptr: only the live graph), as VOW_TRACE does.
/// Throws vow::error (errc::invalid_argument: it is on, or the file cannot be made or written),
/// std::bad_alloc.
inline void start_trace(const char *path = nullptr) {
    detail::check(vow_trace_start(path), "vow::start_trace");
}

/// Ends the file and switches tracing off. False: it was off, or not all events are in the file.
inline bool stop_trace() noexcept {
    return vow_trace_stop() == 0;
}

/// Names a promise in traces, graphs and reports of unhandled rejections; does nothing while
/// tracing is off.
template <class T> void set_label(const promise<T> &named, const char *label) noexcept {
    vow_promise_set_label(named.native(), label);
}

/// How the live graph is written.
enum class graph_format : std::uint32_t { dot = VOW_GRAPH_DOT, json = VOW_GRAPH_JSON };

/// Writes the live promises, and their waits, to a descriptor. Throws vow::error
/// (errc::invalid_argument: tracing is off, or the descriptor takes nothing), std::bad_alloc.
inline void write_graph(int descriptor, graph_format format = graph_format::dot) {
    detail::check(vow_graph_write(descriptor, static_cast<std::uint32_t>(format)),
                  "vow::write_graph");
}

// Descriptions for people: operator<<, and text(x), which vow/format.hpp gives to std::format. For
// logs: the words may change. A look at a rejected promise in this way does not handle the
// rejection, so the text does not say why it is rejected.

[[nodiscard]] inline std::string text(const value &content) {
    return content.describe();
}

/// Domain, code and message; of the library's own errors also the name of the code.
[[nodiscard]] inline std::string text(const error &why) {
    return value::borrow(why.native()).describe();
}

[[nodiscard]] inline std::string text(state now) {
    return now == state::pending ? "pending" : now == state::fulfilled ? "fulfilled" : "rejected";
}

[[nodiscard]] inline std::string text(stage now) {
    return now == stage::waiting   ? "waiting"
           : now == stage::running ? "running"
           : now == stage::has_run ? "has run"
                                   : "never runs";
}

[[nodiscard]] inline std::string text(errc code) {
    return vow_error_name(static_cast<std::int64_t>(code));
}

template <class T> [[nodiscard]] std::string text(const outcome<T> &of) {
    return value::borrow(of.native()).describe();
}

/// The state, and the value if there is one.
template <class T> [[nodiscard]] std::string text(const promise<T> &of) {
    if (!of)
        return "no promise";
    vow_value native = vow_none();
    if (of.state() != state::fulfilled || !vow_promise_peek(of.native(), &native) ||
        native.kind == VOW_NONE)
        return text(of.state());
    return "fulfilled: " + value::borrow(native).describe();
}

namespace detail {

/// Whether there is a text of a T of this library.
template <class T, class = void> struct has_text : std::false_type {};
template <class T>
struct has_text<T, std::void_t<decltype(vow::text(std::declval<const T &>()))>> : std::true_type {};

} // namespace detail

/// `std::cout << promise`, and of errors, values, outcomes, states and codes.
template <class Traits, class T, std::enable_if_t<detail::has_text<T>::value, int> = 0>
std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const T &of) {
    const std::string written = text(of);
    return out << std::basic_string_view<char, Traits>(written.data(), written.size());
}

} // namespace v1
} // namespace vow

#endif
