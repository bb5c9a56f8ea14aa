// One task's wait for one promise, which ends exactly once: by the promise, or by the task's cancellation.

import CVow
import Synchronization

typealias WaitingTask = UnsafeContinuation<vow_value?, Never>

extension PromiseHandle {
    /// The value or error (owned) that a pending promise comes to, waited for by the task. The promise is read by a link alone
    /// from here on; with the task's cancellation the wait ends, and the promise loses that reader.
    @usableFromInline
    static func outcomeUnlessCancelled(
        of handle: consuming PromiseHandle, isolation: isolated (any Actor)?
    ) async -> vow_value {
        let promise = promise(of: handle)
        let wait = Wait()
        let outcome = await withTaskCancellationHandler {
            // Else the closure would be isolated to nothing, and the task would have to leave its actor for it.
            _ = isolation
            return await withUnsafeContinuation { task in wait.begin(for: promise, task) }
        } onCancel: {
            wait.cancel()
        }
        return outcome ?? encodeError(CancellationError())
    }

    /// The same until it is settled, cancelled or not.
    @usableFromInline
    static func outcome(
        of handle: consuming PromiseHandle, isolation: isolated (any Actor)?
    ) async -> vow_value {
        let promise = promise(of: handle)
        let outcome: vow_value? = await withUnsafeContinuation { task in
            // The continuation itself is the link's context: nobody but the link resumes the task.
            let link = watch(
                promise, context: unsafeBitCast(task, to: UnsafeMutableRawPointer.self),
                destroy: nil
            ) { outcome, context in
                unsafeBitCast(context, to: WaitingTask.self)
                    .resume(returning: vow_value_retain(outcome))
                return vow_none()
            }
            vow_promise_release(link)
        }
        return outcome ?? vow_none()
    }
}

/// Whoever moves the word on from `begun` or a link has claimed the wait; nobody else resumes the task.
private final class Wait: Sendable {
    private enum Word {
        static let begun: UInt = 0
        static let settled: UInt = 1
        static let cancelled: UInt = 2
        // Else the link (owned), which is there from the end of `begin`.
    }

    private let word = Atomic(Word.begun)
    // Written before the link is there, and so before who reads it: what settles is the link, and what cancels has found it.
    nonisolated(unsafe) private var task: WaitingTask?

    /// - Parameter promise: consumed.
    func begin(for promise: OpaquePointer, _ task: WaitingTask) {
        self.task = task
        let link = watch(
            promise, context: Unmanaged.passRetained(self).toOpaque(),
            destroy: { wait in
                if let wait { Unmanaged<Wait>.fromOpaque(wait).release() }
            }
        ) { outcome, wait in
            if let wait {
                Unmanaged<Wait>.fromOpaque(wait)._withUnsafeGuaranteedRef { $0.settle(outcome) }
            }
            return vow_none()
        }
        let (isThere, before) = word.compareExchange(
            expected: Word.begun, desired: UInt(bitPattern: link), ordering: .acquiringAndReleasing)
        if isThere { return }
        if before == Word.cancelled {
            _ = vow_cancel(link)
            task.resume(returning: nil)
        }
        vow_promise_release(link)
    }

    /// - Parameter outcome: borrowed.
    private func settle(_ outcome: vow_value) {
        guard let before = claim(Word.settled) else { return }
        if let link = OpaquePointer(bitPattern: before) { vow_promise_release(link) }
        task.unsafelyUnwrapped.resume(returning: vow_value_retain(outcome))
    }

    func cancel() {
        // Without a link: who begins sees it.
        guard let before = claim(Word.cancelled), let link = OpaquePointer(bitPattern: before)
        else {
            return
        }
        // First, so that upstream knows when the task goes on.
        _ = vow_cancel(link)
        vow_promise_release(link)
        task.unsafelyUnwrapped.resume(returning: nil)
    }

    /// - Returns: what the word was, `begun` or a link (owned by the caller now); nil: somebody else has claimed the wait, and
    ///   the word is left as it says how.
    private func claim(_ claimed: UInt) -> UInt? {
        var before = word.load(ordering: .relaxed)
        while before != Word.settled && before != Word.cancelled {
            let (isMine, now) = word.weakCompareExchange(
                expected: before, desired: claimed, ordering: .acquiringAndReleasing)
            if isMine { return before }
            before = now
        }
        return nil
    }
}

/// Registers a function that is to run wherever the promise (consumed) settles, at once, and that never rejects.
/// - Returns: its link (owned), which is cancelled to be rid of it.
private func watch(
    _ promise: OpaquePointer, context: UnsafeMutableRawPointer?,
    destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ run: @escaping vow_handler
) -> OpaquePointer {
    var reaction = vow_reaction()
    reaction.size = MemoryLayout<vow_reaction>.size
    reaction.on_fulfilled = run
    reaction.on_rejected = run
    reaction.context = context
    reaction.destroy = destroy
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
