// From an asynchronous closure to a reaction of the core.
//
// The task is made with the link, so it has the priority and the task locals of the code that attached the handler. It
// waits, with the isolation of its closure, until the link runs and gives it work. A link without a run lets the task end.

import CVow
import VowCore

/// An asynchronous closure of a value (borrowed); its result is owned.
typealias AsyncBody = nonisolated(nonsending) @Sendable (vow_value) async -> vow_value

extension Promise {
    /// Registers an asynchronous reaction. Its promise settles when the task has ended, and cancelling it cancels the task.
    func react<NewSuccess, NewFailure>(
        _ kind: ReactionKind, isolatedTo actor: (any Actor)?, _ token: CancellationToken?,
        isCleanUp: Bool = false, _ body: @escaping AsyncBody
    ) -> Promise<NewSuccess, NewFailure> {
        let start = AsyncStart(isolatedTo: actor, isCleanUp: isCleanUp, body)
        return react(kind, on: .inline, token, Starting(start: start))
    }
}

private struct Starting: Reactor {
    let start: AsyncStart

    func react(to input: vow_value) -> vow_value { start.run(with: input) }
}

/// A task that waits for its work, or for the news that it has none.
final class AsyncStart: Sendable {
    private let body: AsyncBody
    private let isCleanUp: Bool
    private let handover = Handover()
    private let task: Task<Void, Never>

    /// - Parameter isCleanUp: the task is never cancelled (G15).
    init(
        isolatedTo actor: (any Actor)?, isCleanUp: Bool = false, _ body: @escaping AsyncBody
    ) {
        self.body = body
        self.isCleanUp = isCleanUp
        // Nothing of the actor's is touched here: its task is made, and nothing else.
        let begin = unsafeBitCast(BeginningThere(begin: beginTask), to: BeginningHere.self).begin
        task = begin(handover, actor)
    }

    deinit { handover.give(nil) }

    /// At most once.
    ///
    /// - Parameter input: borrowed.
    /// - Returns: the promise of the task, as a value (owned).
    func run(with input: vow_value) -> vow_value {
        let (promise, resolver) = Promise<Void, any Error>.pendingCooperative()
        if !isCleanUp {
            let task = task
            resolver.onCancel { task.cancel() }
        }
        handover.give(AsyncWork(input: vow_value_retain(input), body, resolver))
        return promise.cValue
    }
}

private struct BeginningThere {
    let begin: (Handover, isolated (any Actor)?) -> Task<Void, Never>
}

private struct BeginningHere {
    let begin: (Handover, (any Actor)?) -> Task<Void, Never>
}

private func beginTask(
    _ handover: Handover, on actor: isolated (any Actor)?
) -> Task<Void, Never> {
    // Where it is attached on that actor, or isolated to nothing, it is suspended when this returns.
    Task.immediate {
        _ = actor  // Makes the task's closure isolated to the actor.
        if let work = await handover.work() { await work.perform() }
    }
}

/// The work of a task.
private final class AsyncWork: Sendable {
    private let input: vow_value
    private let body: Guarded<AsyncBody?>
    private let resolver: PromiseResolver<Void, any Error>

    /// - Parameter input: consumed.
    init(
        input: vow_value, _ body: @escaping AsyncBody, _ resolver: PromiseResolver<Void, any Error>
    ) {
        self.input = input
        self.body = Guarded(body)
        self.resolver = resolver
    }

    nonisolated(nonsending) func perform() async {
        let outcome = await run()
        vow_value_release(input)
        // Last, when nothing of the closure is left: a promise that is settled is quiet.
        resolver.withPointer { _ = vow_resolve($0, outcome) }
    }

    /// The closure is gone when this returns.
    nonisolated(nonsending) private func run() async -> vow_value {
        guard let body = body.withLock({ $0.take() }) else { return vow_none() }
        return await body(input)
    }
}

/// From the link to the task, once.
private final class Handover: Sendable {
    private enum State {
        case waiting(UnsafeContinuation<AsyncWork?, Never>?)
        case given(AsyncWork?)
        case over
    }

    private let state = Guarded(State.waiting(nil))

    /// The first call counts.
    func give(_ work: AsyncWork?) {
        let continuation = state.withLock { state -> UnsafeContinuation<AsyncWork?, Never>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = continuation == nil ? .given(work) : .over
            return continuation
        }
        continuation?.resume(returning: work)
    }

    nonisolated(nonsending) func work() async -> AsyncWork? {
        await withUnsafeContinuation { continuation in
            let given = state.withLock { state -> AsyncWork?? in
                guard case .given(let work) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                state = .over
                return .some(work)
            }
            if let given { continuation.resume(returning: given) }
        }
    }
}
