// The main thread, as where handlers run that are the main actor's.

/// Where handlers of the main actor's run: `on: .main` and `on: .mainActor`. What they may touch, the compiler knows.
///
/// As values of their own, for closures that are isolated to nothing: ``PromiseExecutor/main`` and
/// ``PromiseExecutor/mainActor``.
public struct MainActorExecutor: Sendable {
    let executor: PromiseExecutor

    /// The main queue, which the program must run.
    public static let main = MainActorExecutor(executor: .main)

    /// The main actor, in one order with handlers that were written there.
    public static let mainActor = MainActorExecutor(executor: .mainActor)

    /// On the executor: calls `body` as the main actor's.
    func run<Output: Sendable, Failure>(
        _ body: @MainActor () throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try MainActor.assumeIsolated {
            Result { () throws(Failure) in try body() }
        }.get()
    }
}
