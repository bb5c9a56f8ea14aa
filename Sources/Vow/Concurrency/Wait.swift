// One task's wait for one promise, which ends exactly once: by the promise, or by the task's cancellation.

import CVow

/// Whoever moves the state on from `waiting` has claimed the wait; nobody else resumes the task.
final class Wait: Sendable {
    private enum State {
        /// The link is there from the end of `init`, the continuation from when the task is suspended.
        case waiting(Promise<Void, Never>?, UnsafeContinuation<vow_value?, Never>?)
        /// Settled with a value (owned), or cancelled, and the task was not suspended yet.
        case decided(vow_value?)
        case over
    }

    private let state = Guarded(State.waiting(nil, nil))

    /// Begins to wait. The promise is read by the link alone from here on.
    init<Success, Failure>(for promise: Promise<Success, Failure>) {
        let link = promise.watch(Waking(wait: self))
        state.withLock { state in
            if case .waiting(nil, let continuation) = state { state = .waiting(link, continuation) }
        }
    }

    /// Suspends the task until the promise is settled.
    /// - Returns: the value or error (owned); nil: the wait was cancelled.
    nonisolated(nonsending) func outcome() async -> vow_value? {
        await withUnsafeContinuation { continuation in
            let decided: vow_value?? = state.withLock { state in
                switch state {
                case .waiting(let link, _):
                    state = .waiting(link, continuation)
                    return nil
                case .decided(let outcome):
                    state = .over
                    return .some(outcome)
                case .over: return nil
                }
            }
            if let decided { continuation.resume(returning: decided) }
        }
    }

    /// The same, until the task is cancelled at the latest: then the promise loses this reader.
    nonisolated(nonsending) func outcomeUnlessCancelled() async -> vow_value? {
        await withTaskCancellationHandler {
            await outcome()
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        guard let (link, continuation) = claim(nil) else { return }
        // First, so that upstream knows when the task goes on.
        _ = link?.cancelNow()
        continuation?.resume(returning: nil)
    }

    /// - Parameter outcome: borrowed.
    fileprivate func settle(_ outcome: vow_value) {
        let outcome = vow_value_retain(outcome)
        guard let (_, continuation) = claim(outcome) else {
            vow_value_release(outcome)
            return
        }
        continuation?.resume(returning: outcome)
    }

    /// Nil: somebody else has claimed it. What it gives back is released or called without the lock.
    private func claim(
        _ outcome: vow_value?
    ) -> (Promise<Void, Never>?, UnsafeContinuation<vow_value?, Never>?)? {
        state.withLock { state in
            guard case .waiting(let link, let continuation) = state else { return nil }
            state = continuation == nil ? .decided(outcome) : .over
            return (link, continuation)
        }
    }
}

private struct Waking: Reactor {
    let wait: Wait

    func react(to input: vow_value) -> vow_value {
        wait.settle(input)
        return vow_none()
    }
}

extension Promise {
    /// Registers a reactor that is to run wherever the promise settles, at once, and that never rejects.
    /// - Returns: its link, which is cancelled to be rid of it.
    func watch(_ reactor: some Reactor) -> Promise<Void, Never> {
        let link: Promise<Void, Never> = react(.onBoth, on: .inline, nil, reactor)
        if link.state == .rejected { fatalError("no memory to wait for a promise") }
        return link
    }
}
