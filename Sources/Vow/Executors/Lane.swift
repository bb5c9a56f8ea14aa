// Work that runs one at a time, in order, wherever the drain is sent.

/// Gathers work under the lock that also notes the drain on its way or running: so work runs one at a time, in order, and is
/// never left. Work of a higher priority than the drain sends another drain, which takes all work: the order stays, the
/// start is sooner.
final class Lane: Sendable {
    private struct State {
        var work: [SubmittedWork] = []
        /// The priority of the drain that is on its way or running.
        var sent: TaskPriority?
    }

    /// How many handlers run at least before other work of the same place gets its turn.
    private static let turn = 256

    private let state = Guarded(State())
    private let hasPriorities: Bool
    private let send: @Sendable (Lane, TaskPriority) -> Void

    /// - Parameter send: has ``drain()`` called once, soon, where the work belongs.
    init(send: @escaping @Sendable (Lane) -> Void) {
        hasPriorities = false
        self.send = { lane, _ in send(lane) }
    }

    /// - Parameter send: the same in a task of this priority, which is the priority of the task that hands over the work.
    init(tasks send: @escaping @Sendable (Lane, TaskPriority) -> Void) {
        hasPriorities = true
        self.send = send
    }

    func add(_ work: SubmittedWork) {
        let priority = hasPriorities ? Task.currentPriority : .medium
        let isToBeSent = state.withLock { state in
            state.work.append(work)
            if let sent = state.sent, sent >= priority { return false }
            state.sent = priority
            return true
        }
        if isToBeSent { send(self, priority) }
    }

    /// - Returns: how many handlers ran.
    @discardableResult
    func drain() -> Int {
        var count = 0
        while count < Lane.turn {
            let batch = state.withLock { state in
                defer { state.work = [] }
                if state.work.isEmpty { state.sent = nil }
                return state.work
            }
            if batch.isEmpty { return count }
            for work in batch { work() }
            count += batch.count
        }
        send(self, state.withLock { $0.sent } ?? .medium)
        return count
    }

    /// An executor of this work.
    var executor: PromiseExecutor {
        .make(isSerial: true) { work in self.add(work) }
    }
}
