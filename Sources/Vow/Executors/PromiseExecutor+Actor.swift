// Actors, and the executors of tasks.

extension PromiseExecutor {
    /// An executor on an actor: handlers run one at a time, in one order for all executors of the actor;
    /// `actor.assumeIsolated` in them gives its state. The executor keeps the actor.
    ///
    /// A handler that the compiler knows to be isolated needs no executor: a handler written in the actor runs there,
    /// and an asynchronous handler awaits the actor, as in `map { await ledger.store($0) }`.
    public static func actor(_ actor: any Actor) -> PromiseExecutor {
        isolated(to: actor) ?? .pool
    }

    /// Runs handlers on the main actor, one at a time, in one order; `MainActor.assumeIsolated` in them gives its state.
    public static var mainActor: PromiseExecutor { MainLane.executor }

    /// Runs each handler in a task that prefers this executor.
    public static func task(executor: any TaskExecutor) -> PromiseExecutor {
        .make(isSerial: false) { work in
            Task.detached(executorPreference: executor) { work() }
        }
    }

    /// Runs handlers in tasks of this priority, one at a time, in one order however often it is asked for.
    public static func task(priority: TaskPriority) -> PromiseExecutor {
        tasks.withLock { tasks in
            if let known = tasks[priority.rawValue] { return known }
            let executor = Lane { lane in Task.detached(priority: priority) { lane.drain() } }
                .executor
            tasks[priority.rawValue] = executor
            return executor
        }
    }

    /// Nil: isolated to nothing.
    @inlinable @inline(__always)
    static func isolated(to actor: (any Actor)?) -> PromiseExecutor? {
        guard let actor else { return nil }
        return ofActor(actor)
    }

    @usableFromInline
    static func ofActor(_ actor: any Actor) -> PromiseExecutor {
        actor === MainActor.shared ? MainLane.executor : ActorLane.of(actor).executor
    }
}

private let tasks = Guarded<[UInt8: PromiseExecutor]>([:])
