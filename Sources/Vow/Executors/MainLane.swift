// The work of the main actor, in one order, also while the main thread is blocked.

import CVow
import CVowPlatform
import Synchronization
import VowCore

/// A task of the main actor runs it, or else the main thread itself where it waits for a promise or runs an event loop of
/// ours: no task could begin there meanwhile, and a script's `print(try answer.wait())` would wait for ever.
enum MainLane {
    static let executor = lane.executor

    private static let lane: Lane = {
        isUsed.store(true, ordering: .releasing)
        return Lane(tasks: { _, priority in
            Task.detached(priority: priority) { await drainInTask() }
            // Without the lock: the bell may run any code.
            bell.withLock { $0 }?()
        })
    }()
    private static let isUsed = Atomic(false)
    /// Has the main thread, which is blocked, look for work.
    private static let bell = Guarded<(@Sendable () -> Void)?>(nil)
    // Unsafe by its type only: the main thread's alone.
    nonisolated(unsafe) private static var isDraining = false

    /// Runs the lane's work, if this is the main thread and no handler of the lane is running on it.
    ///
    /// - Returns: the number of handlers that ran.
    @discardableResult
    static func drain() -> Int {
        if isDraining { return 0 }
        isDraining = true
        defer { isDraining = false }
        return lane.drain()
    }

    /// Whether the calling thread is the main one, may run the lane, and is alone in that.
    static var isToBeServed: Bool {
        isUsed.load(ordering: .acquiring) && vow_platform_is_main_thread() != 0 && !isDraining
    }

    /// Runs `body`, which blocks the main thread, and meanwhile has `ring` called when there is work.
    static func ringing<Result>(
        _ ring: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = bell.withLock { bell in
            defer { bell = ring }
            return bell
        }
        defer {
            bell.withLock { $0 = outer }
            // This bell may have been rung for the outer wait.
            outer?()
        }
        return try body()
    }
}

@MainActor private func drainInTask() { MainLane.drain() }

extension Promise {
    /// On the main thread, runs the main actor's work until the promise is settled, or the wait is to end otherwise. A
    /// wait that suspends its caller leaves that to the code that the main thread goes on with.
    ///
    /// - Parameters:
    ///   - loop: runs during the wait (borrowed).
    ///   - wait: waits for a promise (borrowed), as vow_await does.
    /// - Returns: the rest of the time.
    func servingMainActor(
        _ nanoseconds: Int64, running loop: OpaquePointer? = nil,
        _ wait: (OpaquePointer, Int64) -> Int32
    ) -> Int64 {
        if nanoseconds < -1 || state != .pending || !MainLane.isToBeServed
            || waitSuspends(running: loop)
        {
            return nanoseconds
        }
        let end = nanoseconds < 0 ? nil : vow_now() + nanoseconds
        func left() -> Int64 { end.map { max($0 - vow_now(), 0) } ?? nanoseconds }
        // Not the promise itself: a race says in a failure which member it is of, and converts the failure for that. Nor
        // does this link read the failure, which has no reader yet when the time is up.
        let settled: Promise<Void, Never> = react(
            .onBothForValue, on: .inline, nil, ObservingEnd(body: SureEnd {}))
        while true {
            let (work, bell) = Promise<Void, Never>.open()
            defer { bell.fulfill() }
            let isOver = MainLane.ringing({ bell.fulfill() }) {
                MainLane.drain()
                // A wait that is to be refused is so for this promise, and not for that there is work.
                if withPointer({ wait($0, 0) }) != Int32(VOW_PENDING) { return true }
                let either: Promise<Void, Never> = combined(
                    pointers: [settled.retainedPointer(), work.retainedPointer()], vow_race)
                let answer = either.withPointer { wait($0, left()) }
                return answer != Int32(VOW_FULFILLED) && answer != Int32(VOW_REJECTED)
            }
            if isOver { return left() }
        }
    }
}
