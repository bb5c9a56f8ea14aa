// Tracing for the Swift face: whether it is on, and the live graph in memory.

import CVow

/// The environment may switch it on where the library is first used, and this may be there.
package func isTraceOn() -> Bool {
    _ = currentThread()
    return isTracing
}

/// Calls body with the live graph: its text and how many bytes that has.
/// - Returns: false when tracing is off; nil without memory.
package func withLiveGraph(
    asJSON: Bool, _ body: (UnsafePointer<CChar>, Int) -> Void
) -> Bool? {
    _ = currentThread()
    let result = withGraph(asJSON: asJSON) { lines in
        lines.withText(body)
        return 0
    }
    return result == VOW_ENOMEM ? nil : result == 0
}
