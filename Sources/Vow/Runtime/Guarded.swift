// A state that one thread at a time uses.

import Synchronization

/// A mutex whose order the thread sanitizer sees, too: it does not look into the library that `Mutex` comes from, and
/// would take each use of the state for a race with the use before.
package struct Guarded<State>: ~Copyable, Sendable {
    private let mutex: Mutex<State>
    private let handedOn = Atomic(false)

    package init(_ state: consuming sending State) { mutex = Mutex(state) }

    /// Never calls foreign code: whatever runs that is taken out, and run behind it.
    package func withLock<Result>(
        _ body: (inout sending State) -> sending Result
    ) -> sending Result {
        mutex.withLock { state in
            _ = handedOn.load(ordering: .acquiring)
            defer { handedOn.store(true, ordering: .releasing) }
            return body(&state)
        }
    }
}
