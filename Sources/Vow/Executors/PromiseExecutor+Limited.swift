// A limit on how many handlers run at a time.

import CVow

extension PromiseExecutor {
    /// Runs handlers on another executor, at most `limit` at a time, begun in order. With a limit of one it is serial.
    ///
    /// A handler that returns a promise is through when it returns, and not when that is settled. A handler that blocks
    /// keeps its turn: if all of them wait for handlers behind them, none goes on.
    ///
    /// - Parameter limit: at least one.
    public static func limited(to limit: Int, on executor: PromiseExecutor) -> PromiseExecutor {
        precondition(limit > 0, "a limit of \(limit) handlers at a time")
        let limiter = Limiter(limit: limit, base: executor)
        return make(isSerial: limit == 1) { work in limiter.add(work) }
    }
}

private final class Limiter: Sendable {
    private struct State {
        var waiting = Fifo<SubmittedWork>()
        var running = 0
    }

    private let limit: Int
    private let base: PromiseExecutor
    private let state = Guarded(State())

    init(limit: Int, base: PromiseExecutor) {
        self.limit = limit
        self.base = base
    }

    func add(_ work: SubmittedWork) {
        let isTurn = state.withLock { state in
            let isTurn = state.running < limit
            if isTurn { state.running += 1 } else { state.waiting.append(work) }
            return isTurn
        }
        if isTurn { begin(work) }
    }

    private func begin(_ work: SubmittedWork) {
        let turn = Turn(PromiseWork(work), limiter: self)
        _ = Promise<Void, Never>.work(on: base, TakingTurn(turn: turn))
    }

    fileprivate func endTurn() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.running -= 1 }
            return next
        }
        if let next { begin(next) }
    }
}

/// Ends when its handler has run, or when the other executor has refused it.
private final class Turn: Sendable {
    private let limiter: Limiter
    private let work: PromiseWork

    init(_ work: PromiseWork, limiter: Limiter) {
        self.work = work
        self.limiter = limiter
    }

    deinit { limiter.endTurn() }

    func run() { work() }
}

private struct TakingTurn: Reactor {
    let turn: Turn

    func react(to _: vow_value) -> vow_value {
        turn.run()
        return vow_none()
    }
}
