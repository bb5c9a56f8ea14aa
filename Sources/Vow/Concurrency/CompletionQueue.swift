// The completions that an iteration has received and not yet given.

import CVow

/// A settled promise: its place, and its value or error (owned).
struct Completion: Sendable {
    let index: Int
    let outcome: vow_value
}

/// Filled by the promises' links, emptied by tasks that take turns.
final class CompletionQueue: Sendable {
    private enum Place {
        /// The link is not known yet, though it may run already.
        case expected
        case pending(Promise<Void, Never>)
        case settled
    }

    private struct State {
        var ready = Fifo<Completion>()
        /// Empty when the iteration is over.
        var places: [Place] = []
        /// Not settled yet.
        var left = 0
        var waiting = Fifo<UnsafeContinuation<Completion?, Never>>()

        /// - Returns: the value that was in its place, to be released without the lock (`settled`: it is not
        ///   wanted any more), the task that is to get it, if any, and the tasks that wait in vain.
        mutating func accept(
            _ completion: Completion
        ) -> (
            Place, UnsafeContinuation<Completion?, Never>?,
            Fifo<UnsafeContinuation<Completion?, Never>>
        ) {
            if places.isEmpty { return (.settled, nil, Fifo()) }
            let before = places[completion.index]
            places[completion.index] = .settled
            left -= 1
            let first = waiting.popFirst()
            if first == nil { ready.append(completion) }
            if left > 0 { return (before, first, Fifo()) }
            defer { waiting = Fifo() }
            return (before, first, waiting)
        }
    }

    private let state = Guarded(State())

    init<Success, Failure>(of promises: [Promise<Success, Failure>]) {
        state.withLock { state in
            state.places = Array(repeating: .expected, count: promises.count)
            state.left = promises.count
        }
        for (index, promise) in promises.enumerated() {
            let link = promise.watch(Arriving(queue: self, index: index))
            state.withLock { state in
                if case .expected = state.places[index] { state.places[index] = .pending(link) }
            }
        }
    }

    /// - Parameter outcome: borrowed.
    fileprivate func arrive(_ outcome: vow_value, at index: Int) {
        let completion = Completion(index: index, outcome: vow_value_retain(outcome))
        var (before, first, others) = state.withLock { state in state.accept(completion) }
        switch before {
        case .settled: vow_value_release(outcome)
        case .expected, .pending: first?.resume(returning: completion)
        }
        while let other = others.popFirst() { other.resume(returning: nil) }
    }

    /// Nil: there is none left, or the task was cancelled.
    nonisolated(nonsending) func next() async -> Completion? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let ready: Completion?? = state.withLock { state in
                    if let first = state.ready.popFirst() { return .some(first) }
                    if state.left == 0 { return .some(nil) }
                    state.waiting.append(continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            letGo()
        }
    }

    /// The iteration is over. Pending promises lose this reader.
    func letGo() {
        let before = state.withLock { state in
            let before = state
            state = State()
            return before
        }
        for case .pending(let link) in before.places { _ = link.cancelNow() }
        var (ready, waiting) = (before.ready, before.waiting)
        while let completion = ready.popFirst() { vow_value_release(completion.outcome) }
        while let one = waiting.popFirst() { one.resume(returning: nil) }
    }
}

private struct Arriving: Reactor {
    let queue: CompletionQueue
    let index: Int

    func react(to input: vow_value) -> vow_value {
        queue.arrive(input, at: index)
        return vow_none()
    }
}
