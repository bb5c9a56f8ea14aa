// Actors, and the executors of tasks.

extension PromiseExecutor {
    /// Runs handlers isolated to an actor, one at a time, in order; `actor.assumeIsolated` in them gives its state.
    ///
    /// Each call makes an executor of its own, with an order of its own. It keeps the actor.
    public static func actor(_ actor: any Actor) -> PromiseExecutor {
        Lane { lane in Task.detached { await drain(lane, on: actor) } }.executor
    }

    /// Runs handlers on the main actor, one at a time, in order; `MainActor.assumeIsolated` in them gives its state.
    public static var mainActor: PromiseExecutor { .actor(MainActor.shared) }

    /// Runs each handler in a task that prefers this executor.
    public static func task(executor: any TaskExecutor) -> PromiseExecutor {
        .make(isSerial: false) { work in
            Task.detached(executorPreference: executor) { work() }
        }
    }
}

private func drain(_ lane: Lane, on _: isolated any Actor) { lane.drain() }
