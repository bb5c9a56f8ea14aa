// Work that runs one at a time, in order, wherever the drain is sent.

/// Gathers work and sends one drain for it; at most one is on its way or running.
final class Lane: Sendable {
    private struct State {
        var work: [SubmittedWork] = []
        var isDrained = false
    }

    /// How many handlers run at least before other work of the same place gets its turn.
    private static let turn = 256

    private let state = Guarded(State())
    private let send: @Sendable (Lane) -> Void

    /// - Parameter send: has ``drain()`` called once, soon, where the work belongs.
    init(send: @escaping @Sendable (Lane) -> Void) { self.send = send }

    func add(_ work: SubmittedWork) {
        let isFirst = state.withLock { state in
            state.work.append(work)
            defer { state.isDrained = true }
            return !state.isDrained
        }
        if isFirst { send(self) }
    }

    func drain() {
        var count = 0
        while count < Lane.turn {
            let batch = state.withLock { state in
                defer { state.work = [] }
                if state.work.isEmpty { state.isDrained = false }
                return state.work
            }
            if batch.isEmpty { return }
            for work in batch { work() }
            count += batch.count
        }
        send(self)
    }

    /// The executor of this work.
    var executor: PromiseExecutor {
        .make(isSerial: true) { work in self.add(work) }
    }
}
