// Progress for the Swift face: told on an executor that is named.

import CVow

/// As vow_on_progress_with. The interval is not negative.
/// - Returns: false without memory; the context is destroyed then.
package func listenWith(
    _ context: UnsafeMutableRawPointer, _ tell: @escaping vow_progress_handler,
    destroy: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    to promise: OpaquePointer, every interval: Int64, on executor: OpaquePointer?,
    until token: OpaquePointer?
) -> Bool {
    let thread = currentThread()
    defer { leave(thread) }
    return listen(
        to: RecordPointer(promise), every: interval, on: ExecutorPointer(executor),
        until: SourcePointer(HandleMark.unmarked(token)), tell, context, destroy, thread)
}
