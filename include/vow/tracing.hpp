/// What a program waits for: labels, the live graph, and a history for Perfetto.
#ifndef VOW_TRACING_HPP
#define VOW_TRACING_HPP

#include "promise.hpp"

namespace vow {
inline namespace v1 {

/// Switches tracing on, with a history in a file (nullptr: only the live graph), as VOW_TRACE does.
/// Throws vow::error (errc::invalid_argument: it is on, or the file cannot be made or written),
/// std::bad_alloc.
inline void start_trace(const char *path = nullptr) {
    const int status = vow_trace_start(path);
    if (status < 0)
        detail::throw_code(status, "vow::start_trace");
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

/// Writes what is alive, and what waits for what, to a descriptor. Throws vow::error
/// (errc::invalid_argument: tracing is off, or the descriptor takes nothing), std::bad_alloc.
inline void write_graph(int descriptor, graph_format format = graph_format::dot) {
    const int status = vow_graph_write(descriptor, static_cast<std::uint32_t>(format));
    if (status < 0)
        detail::throw_code(status, "vow::write_graph");
}

} // namespace v1
} // namespace vow

#endif
