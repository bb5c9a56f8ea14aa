// One task's wait for one promise, which ends exactly once: by the promise, or by the task's cancellation.

import CVow
import Synchronization
import VowCore

/// The value or error (owned) that a pending promise (consumed) comes to, waited for by the task. The promise is read by a link
/// alone from here on; with the task's cancellation the wait ends, and the promise loses that reader.
@usableFromInline
func outcomeUnlessCancelled(
    of promise: OpaquePointer, isolation: isolated (any Actor)?
) async -> vow_value {
    let wait = Wait(for: promise)
    if !wait.isOver {
        await withTaskCancellationHandler {
            // Else the closure would be isolated to nothing, and the task would have to leave its actor for it.
            _ = isolation
            await withUnsafeContinuation { task in wait.begin(task) }
        } onCancel: {
            wait.cancel()
        }
    }
    return wait.end() ?? encodeError(CancellationError())
}

/// The same until the promise is settled, cancelled or not.
@usableFromInline
func outcome(of promise: OpaquePointer, isolation: isolated (any Actor)?) async -> vow_value {
    await withUnsafeContinuation { task in
        // The continuation itself is the link's context: only the link resumes the task.
        let link = watch(
            promise, context: unsafeBitCast(task, to: UnsafeMutableRawPointer.self)
        ) { outcome, context in
            unsafeBitCast(context, to: UnsafeContinuation<vow_value, Never>.self)
                .resume(returning: vow_value_retain(outcome))
            return vow_none()
        }
        vow_promise_release(link)
    }
}

/// A link of the promise that carries the wait: a word, and behind it the outcome.
///
/// A step of the word claims the wait: the link's handler takes it to `settled`, the task's cancellation to `cancelled`, the
/// task to its continuation, once, from `begun` only. Each step acquires and releases. The step that leaves the continuation
/// resumes the task, and no other does. The outcome is written by the handler alone, before its step, and read by the task behind
/// its own or behind the resumption.
///
/// The task has a reference to the link until the wait ends; the handler has the core's. The cancellation has none: it goes to
/// the link only where it has to resume the task, which waits for that.
private struct Wait: @unchecked Sendable {
    // Unchecked because of the pointers, see above.
    private enum Word {
        static let begun: UInt = 0
        static let settled: UInt = 1
        static let cancelled: UInt = 2
        // Else the continuation.
    }

    private let link: OpaquePointer
    private let carried: Carried

    /// - Parameter promise: consumed.
    init(for promise: OpaquePointer) {
        // Begins as zeroes, which is `begun`.
        var bytes: (UInt, UInt, UInt, UInt) = (0, 0, 0, 0)
        link = withUnsafeMutableBytes(of: &bytes) { bytes in
            let closure = CarriedClosure(bytes.baseAddress.unsafelyUnwrapped, run: Wait.settle)
            return reactWith(
                closure, to: promise, .onBoth, on: vow_executor_inline(), token: nil)
        }
        if vow_promise_state(link) == VOW_REJECTED {
            fatalError("no memory to wait for a promise")
        }
        carried = Carried(bytes: carriedBytes(of: link))
    }

    /// The promise settled while its link was made.
    var isOver: Bool { carried.word.pointee.load(ordering: .acquiring) == Word.settled }

    func begin(_ task: UnsafeContinuation<Void, Never>) {
        let (isWaiting, before) = carried.word.pointee.compareExchange(
            expected: Word.begun, desired: unsafeBitCast(task, to: UInt.self),
            ordering: .acquiringAndReleasing)
        if isWaiting { return }
        if before == Word.cancelled { _ = vow_cancel(link) }
        task.resume()
    }

    func cancel() {
        guard let task = carried.claim(Word.cancelled), task != Word.begun else { return }
        // First, so that upstream knows when the task goes on.
        _ = vow_cancel(link)
        unsafeBitCast(task, to: UnsafeContinuation<Void, Never>.self).resume()
    }

    /// Ends a wait. Nil: it was cancelled.
    func end() -> vow_value? {
        let isSettled = isOver
        let outcome = isSettled ? carried.outcome.pointee : nil
        vow_promise_release(link)
        return outcome
    }

    private static let settle: vow_handler = { outcome, bytes in
        guard let bytes else { return vow_none() }
        let carried = Carried(bytes: bytes)
        carried.outcome.initialize(to: vow_value_retain(outcome))
        guard let task = carried.claim(Word.settled) else {
            vow_value_release(outcome)
            return vow_none()
        }
        // The bytes are the task's from here on.
        if task != Word.begun {
            unsafeBitCast(task, to: UnsafeContinuation<Void, Never>.self).resume()
        }
        return vow_none()
    }

    private struct Carried {
        let bytes: UnsafeMutableRawPointer

        var word: UnsafeMutablePointer<Atomic<UInt>> {
            bytes.assumingMemoryBound(to: Atomic<UInt>.self)
        }

        var outcome: UnsafeMutablePointer<vow_value> {
            (bytes + MemoryLayout<UInt>.size).assumingMemoryBound(to: vow_value.self)
        }

        /// - Returns: the former word, `begun` or the continuation. Nil: another thread has claimed the wait; the word says
        ///   how.
        func claim(_ claimed: UInt) -> UInt? {
            var before = word.pointee.load(ordering: .relaxed)
            while before != Word.settled && before != Word.cancelled {
                let (isMine, now) = word.pointee.weakCompareExchange(
                    expected: before, desired: claimed, ordering: .acquiringAndReleasing)
                if isMine { return before }
                before = now
            }
            return nil
        }
    }
}

/// Registers a function that is to run wherever the promise (consumed) settles, at once, and that never rejects.
/// - Returns: its link (owned).
private func watch(
    _ promise: OpaquePointer, context: UnsafeMutableRawPointer?, _ run: @escaping vow_handler
) -> OpaquePointer {
    var reaction = vow_reaction()
    reaction.size = MemoryLayout<vow_reaction>.size
    reaction.on_fulfilled = run
    reaction.on_rejected = run
    reaction.context = context
    reaction.executor = vow_executor_inline()
    let link = vow_then_with(promise, &reaction)
    if vow_promise_state(link) == VOW_REJECTED { fatalError("no memory to wait for a promise") }
    return link
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
