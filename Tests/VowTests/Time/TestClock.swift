// A clock of Swift's that the tests move.

import Vow

/// Stands still until it is advanced. Who sleeps by it is woken in order of time.
final class TestClock: Clock {
    struct Instant: InstantProtocol {
        var time: Duration

        func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
        func duration(to other: Instant) -> Duration { other.time - time }
        static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    private struct State {
        var now = Instant(time: .zero)
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, Never>)] = [:]
        var count = 0
    }

    private let state = Guarded(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// How many sleep by it now.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance _: Duration?) async throws {
        let ticket = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeps = state.withLock { state in
                    if Task.isCancelled || deadline <= state.now { return false }
                    state.sleepers[ticket] = (deadline, continuation)
                    return true
                }
                if !sleeps { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket)?.continuation }?.resume()
        }
        try Task.checkCancellation()
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.values.sorted { $0.until < $1.until }.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }
}
