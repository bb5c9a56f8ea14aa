// W9 and W11: many pending tasks.

import Harness
import Synchronization

private let ran = SharedCounter()

/// W9: only what keeps the tasks pending is held.
struct Held {
    private final class Continuations { var all: [UnsafeContinuation<Int, Never>] = [] }
    private let continuations = Continuations()

    var workload: Workload {
        .held(
            begin: { continuations.all.reserveCapacity($0) },
            clean: { n in
                for continuation in continuations.all { continuation.resume(returning: 1) }
                ran.spin(until: n)
            },
            { n in
                for _ in 0..<n {
                    let pending = Pending()
                    let task = pending.task
                    Task.immediate {
                        _ = await task.value
                        ran.add()
                    }
                    continuations.all.append(pending.continuation)
                }
            })
    }
}

/// W11: a continuation knows nothing of cancelling; a cell that both handlers race for is what everybody writes.
final class Cancelling: @unchecked Sendable {
    private var tasks: [Task<Bool, Never>] = []

    var workload: Workload {
        .inTask(
            prepare: { n in
                self.tasks.reserveCapacity(n)
                for _ in 0..<n { self.tasks.append(.immediate { await untilCancelled() }) }
            },
            { n in
                for task in self.tasks { task.cancel() }
                var cancelled = 0
                for task in self.tasks where await task.value { cancelled += 1 }
                self.tasks.removeAll(keepingCapacity: true)
                expect(cancelled == n, "W11")
            })
    }
}

/// Whether it was.
private func untilCancelled() async -> Bool {
    let cell = Cell()
    return await withTaskCancellationHandler {
        await withUnsafeContinuation { cell.wait($0) }
    } onCancel: {
        cell.cancel()
    }
}

private final class Cell: Sendable {
    private enum State {
        case pending, waiting(UnsafeContinuation<Bool, Never>), cancelled
    }

    private let state = Mutex(State.pending)

    func wait(_ continuation: UnsafeContinuation<Bool, Never>) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .waiting(continuation)
            return false
        }
        if isCancelled { continuation.resume(returning: true) }
    }

    func cancel() {
        let waiting = state.withLock { state in
            defer { state = .cancelled }
            return state
        }
        if case .waiting(let continuation) = waiting { continuation.resume(returning: true) }
    }
}
