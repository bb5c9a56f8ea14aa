// The one seam through which every atomic step of the core passes.

import CVowPlatform
import Synchronization

/// What a step does, for a scheduler that is asked before each: see Tests/schedules. The numbers are
/// those of platform.h.
private struct Step {
    let code: Int32

    static var read: Step { Step(code: 0) }
    static var write: Step { Step(code: 1) }
    static var change: Step { Step(code: 2) }
    /// Of a word that only this thread writes.
    static var own: Step { Step(code: 3) }
}

/// A 64-bit atomic word. Each call names its ordering; the comment at each use names its partner.
struct AtomicWord: ~Copyable, Sendable {
    private let storage: Atomic<UInt64>

    @inline(__always)
    init(_ value: UInt64) { storage = Atomic(value) }

    /// Where it stands, for who sleeps on it.
    var address: UnsafeRawPointer { withUnsafePointer(to: storage) { UnsafeRawPointer($0) } }

    @inline(__always)
    func loadRelaxed() -> UInt64 {
        point(.read)
        return storage.load(ordering: .relaxed)
    }

    @inline(__always)
    func loadAcquire() -> UInt64 {
        point(.read)
        return storage.load(ordering: .acquiring)
    }

    /// A load that takes part in the single order of all sequentially consistent steps.
    @inline(__always)
    func loadOrdered() -> UInt64 {
        point(.read)
        return storage.load(ordering: .sequentiallyConsistent)
    }

    /// For a word that others may read at the same time, but decide nothing by: no step of its own.
    @inline(__always)
    func peek() -> UInt64 { storage.load(ordering: .relaxed) }

    @inline(__always)
    func poke(_ value: UInt64) { storage.store(value, ordering: .relaxed) }

    @inline(__always)
    func storeRelaxed(_ value: UInt64) {
        point(.write)
        storage.store(value, ordering: .relaxed)
    }

    @inline(__always)
    func storeRelease(_ value: UInt64) {
        point(.write)
        storage.store(value, ordering: .releasing)
    }

    @inline(__always)
    func exchangeAcquireRelease(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.exchange(value, ordering: .acquiringAndReleasing)
    }

    /// Acquires when it succeeds; tells what was there when it does not.
    @inline(__always)
    func replaceAcquire(_ expected: UInt64, _ desired: UInt64) -> (
        exchanged: Bool, original: UInt64
    ) {
        point(.change)
        return storage.compareExchange(expected: expected, desired: desired, ordering: .acquiring)
    }

    @inline(__always)
    func replaceAcquireRelease(
        _ expected: UInt64, _ desired: UInt64
    ) -> (exchanged: Bool, original: UInt64) {
        point(.change)
        return storage.compareExchange(
            expected: expected, desired: desired, ordering: .acquiringAndReleasing)
    }

    @inline(__always)
    func replaceOrdered(_ expected: UInt64, _ desired: UInt64) -> (
        exchanged: Bool, original: UInt64
    ) {
        point(.change)
        return storage.compareExchange(
            expected: expected, desired: desired, ordering: .sequentiallyConsistent)
    }

    /// Returns the value before.
    @inline(__always)
    func addRelaxed(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingAdd(value, ordering: .relaxed).oldValue
    }

    /// Adds 1, unless it is 0: for a count that stays 0 once it is. Whether it has added.
    func addOneUnlessZero() -> Bool {
        var old = loadRelaxed()
        while old != 0 {
            point(.change)
            let result = storage.compareExchange(
                expected: old, desired: old &+ 1, ordering: .relaxed)
            if result.exchanged { return true }
            old = result.original
        }
        return false
    }

    /// Returns the value before.
    @inline(__always)
    func subtractAcquireRelease(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingSubtract(value, ordering: .acquiringAndReleasing).oldValue
    }

    /// Sets bits; returns the value before.
    @inline(__always)
    func orAcquireRelease(_ bits: UInt64) -> UInt64 {
        point(.change)
        return storage.bitwiseOr(bits, ordering: .acquiringAndReleasing).oldValue
    }

    /// Returns the value before.
    @inline(__always)
    func addOrdered(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
    }

    /// Returns the value before.
    @inline(__always)
    func subtractOrdered(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingSubtract(value, ordering: .sequentiallyConsistent).oldValue
    }

    /// Adds without a read-modify-write: for a word that only one thread writes.
    @inline(__always)
    func addAsOnlyWriter(_ value: UInt64) {
        point(.own)
        storage.store(storage.load(ordering: .relaxed) &+ value, ordering: .relaxed)
    }

    /// Before each step; without schedules it is nothing.
    @inline(__always)
    private func point(_ step: Step) {
        #if VOW_SCHEDULES
            withUnsafePointer(to: self) { vow_schedule_point(step.code, $0) }
        #endif
    }
}

/// Between an atomic read-modify-write before and a load after. The processors of the x86 family order these by
/// themselves; the compiler has to be told.
@inline(__always)
func orderStoresBeforeLoads() {
    #if arch(x86_64) || arch(i386)
        vow_platform_order_for_compiler()
    #else
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
}

/// A few atomic bits in one byte, each of which never goes back to 0.
struct AtomicFlags: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>

    @inline(__always)
    init(_ bits: UInt8 = 0) { storage = Atomic(bits) }

    /// One of the bits.
    @inline(__always)
    func contains(_ bits: UInt8) -> Bool {
        point(.read)
        return storage.load(ordering: .relaxed) & bits != 0
    }

    var snapshot: UInt8 {
        point(.read)
        return storage.load(ordering: .relaxed)
    }

    /// Writes only when needed.
    @inline(__always)
    func insert(_ bit: UInt8) {
        if contains(bit) { return }
        point(.change)
        _ = storage.bitwiseOr(bit, ordering: .relaxed)
    }

    func remove(_ bit: UInt8) {
        point(.change)
        _ = storage.bitwiseAnd(~bit, ordering: .relaxed)
    }

    @inline(__always)
    private func point(_ step: Step) {
        #if VOW_SCHEDULES
            withUnsafePointer(to: self) { vow_schedule_point(step.code, $0) }
        #endif
    }
}

/// An atomic yes or no in one byte.
struct AtomicMark: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>

    @inline(__always)
    init() { storage = Atomic(0) }

    @inline(__always)
    var isSet: Bool {
        point(.read)
        return storage.load(ordering: .relaxed) != 0
    }

    /// For who knows that nobody else sets it at the same time.
    @inline(__always)
    func clear() {
        if !isSet { return }
        point(.write)
        storage.store(0, ordering: .relaxed)
    }

    /// Writes only when needed, so that a mark on a shared object does not bounce its cache line.
    @inline(__always)
    func set() {
        if isSet { return }
        point(.write)
        storage.store(1, ordering: .relaxed)
    }

    @inline(__always)
    private func point(_ step: Step) {
        #if VOW_SCHEDULES
            withUnsafePointer(to: self) { vow_schedule_point(step.code, $0) }
        #endif
    }
}

/// In one byte: whether a promise's rejection is observed, and which standing readers the promise has. `set` and `clear` may undo
/// another thread's change of the standing readers, which costs one more of them.
struct ObservedMark: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>
    private static var observed: UInt8 { 1 }
    /// By an observer that may take its mark back.
    private static var alone: UInt8 { 2 }

    @inline(__always)
    init() { storage = Atomic(0) }

    @inline(__always)
    private var bits: UInt8 {
        point(.read)
        return storage.load(ordering: .relaxed)
    }

    @inline(__always)
    var isSet: Bool { bits & (Self.observed | Self.alone) != 0 }

    /// No observer can take it back.
    @inline(__always)
    var isSetForGood: Bool { bits & Self.observed != 0 }

    /// Writes only when needed, so that a mark on a shared object does not bounce its cache line.
    @inline(__always)
    func set() {
        let now = bits
        if now & Self.observed != 0 { return }
        point(.write)
        storage.store(now | Self.observed, ordering: .relaxed)
    }

    /// The caller knows that nobody else sets it at the same time.
    func clear() {
        let now = bits
        if now & (Self.observed | Self.alone) == 0 { return }
        point(.write)
        storage.store(now & ~(Self.observed | Self.alone), ordering: .relaxed)
    }

    /// Sets it for an observer that may take it back, unless another one sets it before or afterwards.
    func setAlone() {
        if insert(Self.alone) & (Self.observed | Self.alone) != 0 { set() }
    }

    /// Where other observers have set it, it stays set.
    func takeBackAlone() {
        point(.change)
        storage.bitwiseAnd(~Self.alone, ordering: .relaxed)
    }

    /// False: a reader that does as much stands already.
    func beginStanding(_ reader: StandingReader) -> Bool {
        insert(reader.rawValue) & reader.orMore == 0
    }

    func isStanding(_ reader: StandingReader) -> Bool { bits & reader.orMore != 0 }

    /// Returns the bits that were there before.
    private func insert(_ bit: UInt8) -> UInt8 {
        point(.change)
        return storage.bitwiseOr(bit, ordering: .relaxed).oldValue
    }

    @inline(__always)
    private func point(_ step: Step) {
        #if VOW_SCHEDULES
            withUnsafePointer(to: self) { vow_schedule_point(step.code, $0) }
        #endif
    }
}

/// A reader that stays until its promise has settled, so that this is wanted: one of a kind is enough.
enum StandingReader: UInt8 {
    /// A shield that nobody reads; it reports.
    case shield = 4
    /// The reader that `vow_detach` adds; the promise itself reports.
    case silent = 8

    /// This reader, or one that does more.
    fileprivate var orMore: UInt8 { rawValue | StandingReader.shield.rawValue }
}

/// An address as such a word.
@inline(__always)
func word<Pointee: ~Copyable>(of address: UnsafeMutablePointer<Pointee>?) -> UInt64 {
    UInt64(UInt(bitPattern: address))
}

@inline(__always)
func word(of address: UnsafeMutableRawPointer?) -> UInt64 { UInt64(UInt(bitPattern: address)) }
