// Chapter 16 of vow.h: tracing.

import CVow

@_cdecl("vow_trace_start") @implementation
public func vow_trace_start(_ path: UnsafePointer<CChar>!) -> Int32 {
    _ = currentThread()
    return startTrace(path)
}

@_cdecl("vow_trace_stop") @implementation
public func vow_trace_stop() -> Int32 {
    // The environment may switch it on at this moment.
    _ = currentThread()
    guard let missing = stopTrace() else { return VOW_EINVAL }
    return Int32(clamping: missing)
}

@_cdecl("vow_promise_set_label") @implementation
public func vow_promise_set_label(_ promise: OpaquePointer!, _ label: UnsafePointer<CChar>!) {
    guard let record = promiseRecord(promise, "vow_promise_set_label"), isTracing else { return }
    noteLabel(record, label)
}

@_cdecl("vow_graph_write") @implementation
public func vow_graph_write(_ fd: Int32, _ format: UInt32) -> Int32 {
    _ = currentThread()
    switch format {
    case VOW_GRAPH_DOT: return writeGraph(to: fd, asJSON: false)
    case VOW_GRAPH_JSON: return writeGraph(to: fd, asJSON: true)
    default: return VOW_EINVAL
    }
}
