// One order for all that runs on an actor, however often its executor is asked for.

/// The queue of handlers of one actor. There is one lane for an actor as long as the lane or its executor has
/// a reference, or the lane has work.
final class ActorLane: Sendable {
    /// A class: of a structure like it, an optional one in a dictionary is written beyond its end (Swift 6.3).
    private final class Known {
        weak var lane: ActorLane?
        /// Which one it is, though it may be going.
        let identity: ObjectIdentifier

        init(_ lane: ActorLane) {
            self.lane = lane
            identity = ObjectIdentifier(lane)
        }
    }

    /// By the actor's address, which is no other one's for as long as the lane keeps it.
    private static let known = Guarded<[ObjectIdentifier: Known]>([:])

    private struct Executor {
        weak var handle: Handle?
    }

    private let name: ObjectIdentifier
    private let lane: Lane
    private let current = Guarded(Executor())

    private init(_ actor: any Actor, _ name: ObjectIdentifier) {
        self.name = name
        lane = Lane(tasks: { lane, priority in
            Task.detached(priority: priority) { await drain(lane, on: actor) }
        })
    }

    deinit {
        let (name, identity) = (name, ObjectIdentifier(self))
        // Another lane may be there already: the weak reference was gone before this began.
        ActorLane.known.withLock { known in
            if known[name]?.identity == identity { known[name] = nil }
        }
    }

    static func of(_ actor: any Actor) -> ActorLane {
        let name = ObjectIdentifier(actor)
        return known.withLock { known in
            if let lane = known[name]?.lane { return lane }
            let lane = ActorLane(actor, name)
            known[name] = Known(lane)
            return lane
        }
    }

    var executor: PromiseExecutor {
        current.withLock { current in
            if let handle = current.handle { return PromiseExecutor(handle: handle) }
            let executor = PromiseExecutor.make(isSerial: true) { work in self.lane.add(work) }
            current.handle = executor.handle
            return executor
        }
    }
}

private func drain(_ lane: Lane, on _: isolated any Actor) { lane.drain() }
