// Where a closure runs that is given the actor to be isolated to.

/// Where handlers of an actor's run that is given to them: `map(isolatedTo: ledger) { $0.write($1) }`.
struct ActorPlace<Isolated: Actor>: Sendable {
    private let actor: Isolated
    let executor: PromiseExecutor

    init(_ actor: Isolated) {
        self.actor = actor
        executor = .actor(actor)
    }

    /// On the executor: calls `body` as the actor's.
    func run<Output: Sendable, Failure>(
        _ body: @Sendable (isolated Isolated) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try actor.assumeIsolated { actor -> Result<Output, Failure> in
            do throws(Failure) { return .success(try body(actor)) } catch {
                return .failure(error)
            }
        }.get()
    }
}
