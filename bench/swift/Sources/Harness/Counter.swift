// Counts handlers.

import Glibc
import Synchronization

/// For handlers that run on one thread at a time. Counting is one addition: no check of exclusive access is measured with
/// it. Made as a constant of a file, handlers need not capture it, as those of the peers in C do not.
public final class Counter: Sendable {
    @usableFromInline nonisolated(unsafe) let place: UnsafeMutablePointer<Int>

    public init() {
        place = .allocate(capacity: 1)
        place.pointee = 0
    }

    deinit { place.deallocate() }

    @inlinable
    public func add() { place.pointee += 1 }

    @inlinable
    public var count: Int { place.pointee }

    /// What was counted; begins anew.
    @inlinable
    public func take() -> Int {
        defer { place.pointee = 0 }
        return place.pointee
    }
}

/// The same for handlers that may run side by side.
public final class SharedCounter: Sendable {
    @usableFromInline let count = Atomic<Int>(0)

    public init() {}

    @inlinable
    public func add() { count.wrappingAdd(1, ordering: .relaxed) }

    @inlinable
    public func take() -> Int { count.exchange(0, ordering: .acquiring) }

    /// Until so many were counted.
    public func spin(until target: Int) {
        while count.load(ordering: .acquiring) < target { sched_yield() }
    }
}
