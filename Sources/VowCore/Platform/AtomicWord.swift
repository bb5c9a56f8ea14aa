// The one seam through which every atomic step of the core passes.

import Synchronization

/// A 64-bit atomic word. Each call names its ordering; the comment at each use names its partner.
struct AtomicWord: ~Copyable, Sendable {
    private let storage: Atomic<UInt64>

    @inline(__always)
    init(_ value: UInt64) { storage = Atomic(value) }

    @inline(__always)
    func loadRelaxed() -> UInt64 { storage.load(ordering: .relaxed) }

    @inline(__always)
    func loadAcquire() -> UInt64 { storage.load(ordering: .acquiring) }

    /// A load that takes part in the single order of all sequentially consistent steps.
    @inline(__always)
    func loadOrdered() -> UInt64 { storage.load(ordering: .sequentiallyConsistent) }

    @inline(__always)
    func storeRelaxed(_ value: UInt64) { storage.store(value, ordering: .relaxed) }

    @inline(__always)
    func storeRelease(_ value: UInt64) { storage.store(value, ordering: .releasing) }

    @inline(__always)
    func storeOrdered(_ value: UInt64) { storage.store(value, ordering: .sequentiallyConsistent) }

    @inline(__always)
    func exchangeAcquireRelease(_ value: UInt64) -> UInt64 {
        storage.exchange(value, ordering: .acquiringAndReleasing)
    }

    /// Acquires when it succeeds; tells what was there when it does not.
    @inline(__always)
    func replaceAcquire(_ expected: UInt64, _ desired: UInt64) -> (
        exchanged: Bool, original: UInt64
    ) {
        storage.compareExchange(expected: expected, desired: desired, ordering: .acquiring)
    }

    @inline(__always)
    func replaceRelease(_ expected: UInt64, _ desired: UInt64) -> (
        exchanged: Bool, original: UInt64
    ) {
        storage.compareExchange(expected: expected, desired: desired, ordering: .releasing)
    }

    @inline(__always)
    func replaceAcquireRelease(
        _ expected: UInt64, _ desired: UInt64
    ) -> (exchanged: Bool, original: UInt64) {
        storage.compareExchange(
            expected: expected, desired: desired, ordering: .acquiringAndReleasing)
    }

    @inline(__always)
    func replaceOrdered(_ expected: UInt64, _ desired: UInt64) -> (
        exchanged: Bool, original: UInt64
    ) {
        storage.compareExchange(
            expected: expected, desired: desired, ordering: .sequentiallyConsistent)
    }

    /// Returns the value before.
    @inline(__always)
    func addRelaxed(_ value: UInt64) -> UInt64 {
        storage.wrappingAdd(value, ordering: .relaxed).oldValue
    }

    /// Returns the value before.
    @inline(__always)
    func subtractAcquireRelease(_ value: UInt64) -> UInt64 {
        storage.wrappingSubtract(value, ordering: .acquiringAndReleasing).oldValue
    }

    /// Returns the value before.
    @inline(__always)
    func addOrdered(_ value: UInt64) -> UInt64 {
        storage.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
    }

    /// Returns the value before.
    @inline(__always)
    func subtractOrdered(_ value: UInt64) -> UInt64 {
        storage.wrappingSubtract(value, ordering: .sequentiallyConsistent).oldValue
    }

    /// Adds without a read-modify-write: for a word that only one thread writes.
    @inline(__always)
    func addAsOnlyWriter(_ value: UInt64) { storeRelaxed(loadRelaxed() &+ value) }
}

/// Between an atomic read-modify-write before and a load after. x86 orders these by itself.
@inline(__always)
func orderStoresBeforeLoads() {
    #if !arch(x86_64) && !arch(i386)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
}

/// An atomic yes or no in one byte, which never goes back to no.
struct AtomicMark: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>

    @inline(__always)
    init() { storage = Atomic(0) }

    @inline(__always)
    var isSet: Bool { storage.load(ordering: .relaxed) != 0 }

    /// Writes only when needed, so that a mark on a shared object does not bounce its cache line.
    @inline(__always)
    func set() {
        if !isSet { storage.store(1, ordering: .relaxed) }
    }
}
