// Looking inside: traces and the live graph.

import CVow
import VowCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension PromiseRuntime {
    /// Whether tracing is on: by ``startTrace(to:)``, or because the environment says so.
    public static var isTracing: Bool { isTraceOn() }

    /// Switches tracing on: every live promise is known from here on, with its age, its label, its site and the promise
    /// that it waits for. Promises made earlier are known from their next step on.
    ///
    /// - Parameter path: a file, replaced, for the history of all steps in Chrome's trace event format; `%p` in it is the
    ///   number of the process. Nil: only the live graph is kept.
    /// - Throws: ``PromiseError/invalidArgument(_:)`` when tracing is on already or the file cannot be made or written, and
    ///   the text says why.
    public static func startTrace(to path: String? = nil) throws(PromiseError) {
        switch vow_trace_start(path) {
        case 0: return
        case VOW_ENOMEM: throw .outOfMemory
        default:
            let reason = errno
            if isTraceOn() { throw .invalidArgument("startTrace: tracing is on already") }
            throw .invalidArgument("startTrace: \(path ?? "no file"): \(text(of: reason))")
        }
    }

    /// Ends the file and switches tracing off, as the end of the program does.
    ///
    /// - Returns: false if it was off, or if not all events are in the file: then standard error says so.
    @discardableResult
    public static func stopTrace() -> Bool { vow_trace_stop() == 0 }

    /// The live promises, and the waits between them.
    ///
    /// - Throws: ``PromiseError/invalidArgument(_:)`` when tracing is off.
    public static func graph(as format: GraphFormat = .dot) throws(PromiseError) -> String {
        var graph = ""
        let isKnown = withLiveGraph(asJSON: format == .json) { text, count in
            let bytes = UnsafeRawBufferPointer(start: text, count: count)
            graph = String(decoding: bytes, as: UTF8.self)
        }
        guard let isKnown else { throw .outOfMemory }
        if !isKnown { throw .invalidArgument("graph: tracing is off") }
        return graph
    }

    /// The same, written to a file descriptor.
    ///
    /// - Throws: ``PromiseError/invalidArgument(_:)`` when tracing is off or the descriptor takes nothing, and the text
    ///   says why.
    public static func writeGraph(
        to fileDescriptor: Int32, as format: GraphFormat = .dot
    ) throws(PromiseError) {
        switch vow_graph_write(fileDescriptor, format.number) {
        case 0: return
        case VOW_ENOMEM: throw .outOfMemory
        default:
            let reason = errno
            if !isTraceOn() { throw .invalidArgument("writeGraph: tracing is off") }
            throw .invalidArgument(
                "writeGraph: file descriptor \(fileDescriptor): \(text(of: reason))")
        }
    }

    private static func text(of error: Int32) -> String { String(cString: strerror(error)) }

    /// How a live graph is written.
    public enum GraphFormat: Sendable {
        /// For Graphviz: the pending promises.
        case dot
        /// For programs: all that is live.
        case json

        fileprivate var number: UInt32 { self == .dot ? VOW_GRAPH_DOT : VOW_GRAPH_JSON }
    }
}
