// Promises in line between the task that makes them and the tasks that take them.

/// Filled by one task, which waits while there is no room, and emptied by others, which wait while nothing is there.
final class PromiseLine<Success: Sendable>: Sendable {
    typealias Member = Promise<Success, any Error>

    private struct State {
        var members = Fifo<Member>()
        var room: Int
        /// The end behind the last member; nil: more members.
        var end: Result<Void, any Error>?
        var filling: UnsafeContinuation<Void, Never>?
        var taking = Fifo<UnsafeContinuation<Void, Never>>()
    }

    private let state: Guarded<State>

    /// Without room it ends at once, with a failure.
    init(room: Int) {
        let refusal = PromiseError.invalidArgument(
            "promises: with a concurrency of \(room) nothing is ever under way")
        state = Guarded(State(room: room, end: room < 1 ? .failure(refusal) : nil))
    }

    func fill<Base: AsyncSequence>(
        from base: Base, _ make: (Base.Element) throws -> Member
    ) async {
        do {
            var iterator = base.makeAsyncIterator()
            while await hasRoom(), let element = try await iterator.next() {
                append(try make(element))
            }
            end(.success(()))
        } catch { end(.failure(error)) }
    }

    /// Waits for room. False: the iteration is over.
    private func hasRoom() async -> Bool {
        await withUnsafeContinuation { continuation in
            let waits = state.withLock { state in
                if state.room > 0 || state.end != nil { return false }
                state.filling = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { $0.end == nil }
    }

    private func append(_ member: Member) {
        let taking = state.withLock { state in
            if state.end != nil { return UnsafeContinuation<Void, Never>?.none }
            state.members.append(member)
            state.room -= 1
            return state.taking.popFirst()
        }
        taking?.resume()
    }

    /// The first promise in line, which keeps its room until ``makeRoom()``; nil: no promise is left.
    nonisolated(nonsending) func first() async throws -> Member? {
        while true {
            await waitForNews()
            try Task.checkCancellation()
            switch take() {
            case .member(let member): return member
            case .end(let end):
                try end.get()
                return nil
            case .nothing: continue
            }
        }
    }

    /// Until there is a member, or the end.
    nonisolated(nonsending) private func waitForNews() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    if !state.members.isEmpty || state.end != nil { return false }
                    state.taking.append(continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.end()
        }
    }

    private enum Taken {
        case member(Member), end(Result<Void, any Error>)
        /// Another task was there first.
        case nothing
    }

    private func take() -> Taken {
        state.withLock { state in
            if let member = state.members.popFirst() { return .member(member) }
            guard let end = state.end else { return .nothing }
            // The end is reported once.
            state.end = .success(())
            return .end(end)
        }
    }

    func makeRoom() {
        let filling = state.withLock { state in
            state.room += 1
            return state.filling.take()
        }
        filling?.resume()
    }

    /// The iteration is over. The promises in line lose this reader.
    func end() {
        end(.success(()))
        // The promises are released without the lock.
        _ = state.withLock { state in
            let members = state.members
            state.members = Fifo()
            // Also of a failure that would have come behind them.
            state.end = .success(())
            return members
        }
    }

    private func end(_ end: Result<Void, any Error>) {
        let waiting = state.withLock { state in
            if state.end == nil { state.end = end }
            var waiting = [state.filling.take()]
            while let taking = state.taking.popFirst() { waiting.append(taking) }
            return waiting
        }
        for continuation in waiting { continuation?.resume() }
    }
}
