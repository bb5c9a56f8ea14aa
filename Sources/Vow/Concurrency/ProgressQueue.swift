// The progress that an iteration has received and not yet given.

/// The newest progress that the iteration has not given, and the tasks that wait for it.
final class ProgressQueue: Sendable {
    private struct State {
        var newest: PromiseProgress?
        var isOver = false
        var waiting = Fifo<UnsafeContinuation<PromiseProgress?, Never>>()
    }

    /// Ends the listening, which the promise would keep.
    let ending = CancellationSource()
    private let state = Guarded(State())

    func tell(_ progress: PromiseProgress) {
        let waiting = state.withLock { state in
            if state.isOver { return UnsafeContinuation<PromiseProgress?, Never>?.none }
            let first = state.waiting.popFirst()
            if first == nil { state.newest = progress }
            return first
        }
        waiting?.resume(returning: progress)
    }

    func end() {
        var waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = Fifo() }
            return state.waiting
        }
        while let one = waiting.popFirst() { one.resume(returning: nil) }
        ending.cancel()
    }

    nonisolated(nonsending) func next() async -> PromiseProgress? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let ready: PromiseProgress?? = state.withLock { state in
                    if let newest = state.newest.take() { return .some(newest) }
                    if state.isOver { return .some(nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            end()
        }
    }
}
