// Promise.map over a sequence that makes its items as it goes: each is asked for when there is room for it.

import CVow

/// One run. A thread that makes room pulls; a thread that comes meanwhile leaves its pull to the first. So one thread at
/// a time asks the sequence, under no lock, and steps that end at once need no stack.
final class Pulling<Item: Sendable, Member: Sendable, Failure: Error>: Sendable {
    private typealias Step = Promise<Member, Failure>

    private struct State {
        /// Places without an item.
        var room: Int
        var isPulling = false
        /// No item is to come: there is none, or the outcome is decided.
        var isOver = false
        /// Items that were begun.
        var count = 0
        var underWay: [Int: Step] = [:]
        /// The result (owned) of each item.
        var results: [Int: vow_value] = [:]
        /// The first failure (owned).
        var error: vow_value?
        var isSettled = false
    }

    private let state: Guarded<State>
    /// Unsafe: only the pulling thread uses it.
    nonisolated(unsafe) private var iterator: any IteratorProtocol<Item>
    private let executor: PromiseExecutor?
    private let step: @Sendable (Item) -> vow_value
    private let resolver: PromiseResolver<[Member], Failure>

    private init(
        _ items: sending some Sequence<Item>, _ concurrency: Int, _ executor: PromiseExecutor?,
        _ step: @escaping @Sendable (Item) -> vow_value,
        _ resolver: PromiseResolver<[Member], Failure>
    ) {
        iterator = items.makeIterator()
        state = Guarded(State(room: concurrency))
        (self.executor, self.step, self.resolver) = (executor, step, resolver)
    }

    static func run(
        _ items: sending some Sequence<Item>, _ concurrency: Int, _ executor: PromiseExecutor?,
        _ step: @escaping @Sendable (Item) -> vow_value
    ) -> Promise<[Member], Failure> {
        let (promise, resolver) = Promise<[Member], Failure>.openCooperative()
        let pulling = Pulling(items, concurrency, executor, step, resolver)
        resolver.onCancel { [weak pulling] in pulling?.stop() }
        pulling.pull()
        return promise
    }

    private func pull() {
        let mayPull = state.withLock { state in
            if state.isPulling { return false }
            state.isPulling = true
            return true
        }
        if !mayPull { return }
        while let index = nextPlace() {
            guard let item = iterator.next() else {
                state.withLock { state in state.isOver = true }
                continue
            }
            begin(item, at: index)
        }
        settleIfThrough()
    }

    /// Nil: the pull is over.
    private func nextPlace() -> Int? {
        state.withLock { state in
            if state.isOver || state.room == 0 {
                state.isPulling = false
                return nil
            }
            return state.count
        }
    }

    private func begin(_ item: Item, at index: Int) {
        let step = step
        let work = Step.work(on: executor, PullingStep(body: { step(item) }))
        let isWanted = state.withLock { state in
            state.count += 1
            state.room -= 1
            state.underWay[index] = work
            return !state.isOver
        }
        if !isWanted { _ = work.cancelNow() }
        _ = work.watch(PullingEnd(body: { self.end($0, at: index) }))
    }

    /// - Parameter outcome: borrowed.
    private func end(_ outcome: vow_value, at index: Int) {
        let owned = vow_value_retain(outcome)
        let others: [Step] = state.withLock { state in
            state.underWay[index] = nil
            state.room += 1
            if owned.kind != VOW_ERROR || state.error != nil {
                state.results[index] = owned
                return []
            }
            state.error = owned
            state.isOver = true
            return Array(state.underWay.values)
        }
        for other in others { _ = other.cancelNow() }
        pull()
    }

    private func stop() {
        let underWay = state.withLock { state in
            state.isOver = true
            return Array(state.underWay.values)
        }
        for work in underWay { _ = work.cancelNow() }
        settleIfThrough()
    }

    private func settleIfThrough() {
        let through: State? = state.withLock { state in
            if !state.isOver || state.isPulling || !state.underWay.isEmpty || state.isSettled {
                return nil
            }
            state.isSettled = true
            defer { state.results = [:] }
            return state
        }
        guard let through else { return }
        if let error = through.error {
            resolver.withPointer { _ = vow_reject($0, error) }
        } else {
            settle(with: through)
        }
        for result in through.results.values { vow_value_release(result) }
    }

    private func settle(with through: State) {
        var members: [Member] = []
        members.reserveCapacity(through.count)
        for index in 0..<through.count {
            guard let result = through.results[index] else { return }
            guard let member = decode(result, as: Member.self) else {
                let error = encodeError(unexpected(result, Member.self))
                resolver.withPointer { _ = vow_reject($0, error) }
                return
            }
            members.append(member)
        }
        resolver.fulfill(members)
    }
}

private struct PullingStep: Reactor {
    let body: @Sendable () -> vow_value

    func react(to _: vow_value) -> vow_value { body() }
}

private struct PullingEnd: Reactor {
    let body: @Sendable (vow_value) -> Void

    func react(to input: vow_value) -> vow_value {
        body(input)
        return vow_none()
    }
}
