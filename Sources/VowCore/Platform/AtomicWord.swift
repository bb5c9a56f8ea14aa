// The atomic types through which every atomic step of the core passes.

import CVowPlatform
import Synchronization

/// The kind of a step, for the scheduler of Tests/schedules, which is asked before each. The numbers are those of platform.h.
private struct Step {
    let code: Int32

    static var read: Step { Step(code: 0) }
    static var write: Step { Step(code: 1) }
    static var change: Step { Step(code: 2) }
    /// A step on a word that only this thread writes.
    static var own: Step { Step(code: 3) }
}

/// A 64-bit atomic word. Each call names its ordering; the comment at each use names its partner. Arithmetic and bit steps
/// return the value before.
struct AtomicWord: ~Copyable, Sendable {
    private let storage: Atomic<UInt64>

    @inline(__always)
    init(_ value: UInt64) { storage = Atomic(value) }

    /// The address of the word, for a thread that sleeps on it.
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

    @inline(__always)
    func loadOrdered() -> UInt64 {
        point(.read)
        return storage.load(ordering: .sequentiallyConsistent)
    }

    /// For a word by which no other thread decides: the load is no step for the scheduler.
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

    /// Acquires when it succeeds. `original` is the value before, also when it fails.
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

    @inline(__always)
    func addRelaxed(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingAdd(value, ordering: .relaxed).oldValue
    }

    /// Adds 1 unless the count is 0, which is final. Returns whether it has added.
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

    @inline(__always)
    func subtractAcquireRelease(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingSubtract(value, ordering: .acquiringAndReleasing).oldValue
    }

    @inline(__always)
    func orAcquireRelease(_ bits: UInt64) -> UInt64 {
        point(.change)
        return storage.bitwiseOr(bits, ordering: .acquiringAndReleasing).oldValue
    }

    @inline(__always)
    func addOrdered(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
    }

    @inline(__always)
    func subtractOrdered(_ value: UInt64) -> UInt64 {
        point(.change)
        return storage.wrappingSubtract(value, ordering: .sequentiallyConsistent).oldValue
    }

    /// Adds without a read-modify-write, for a word that only one thread writes.
    @inline(__always)
    func addAsOnlyWriter(_ value: UInt64) {
        point(.own)
        storage.store(storage.load(ordering: .relaxed) &+ value, ordering: .relaxed)
    }

    /// Runs before each step; without schedules it is nothing.
    @inline(__always)
    private func point(_ step: Step) {
        #if VOW_SCHEDULES
            withUnsafePointer(to: self) { vow_schedule_point(step.code, $0) }
        #endif
    }
}

/// Orders an atomic read-modify-write before it and a load after it. Processors of the x86 family keep this order by
/// themselves; the compiler has to be told.
@inline(__always)
func orderStoresBeforeLoads() {
    #if arch(x86_64) || arch(i386)
        vow_platform_order_for_compiler()
    #else
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
}

/// A few atomic bits in one byte.
struct AtomicFlags: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>

    @inline(__always)
    init(_ bits: UInt8 = 0) { storage = Atomic(bits) }

    /// Whether one of the bits is set.
    @inline(__always)
    func contains(_ bits: UInt8) -> Bool {
        point(.read)
        return storage.load(ordering: .relaxed) & bits != 0
    }

    var snapshot: UInt8 {
        point(.read)
        return storage.load(ordering: .relaxed)
    }

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

    /// The caller knows that no other thread sets the mark at the same time.
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

/// Two facts in one byte: whether a promise's rejection is observed, and which standing readers the promise has. `set` and
/// `clear` may undo another thread's change of the standing readers, which costs one more of them.
struct ObservedMark: ~Copyable, Sendable {
    private let storage: Atomic<UInt8>
    private static var observed: UInt8 { 1 }
    /// Observed by one observer, which may take its mark back.
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

    /// Whether no observer can take the mark back.
    @inline(__always)
    var isSetForGood: Bool { bits & Self.observed != 0 }

    @inline(__always)
    func set() {
        let now = bits
        if now & Self.observed != 0 { return }
        point(.write)
        storage.store(now | Self.observed, ordering: .relaxed)
    }

    /// The caller knows that no other thread sets the mark at the same time.
    func clear() {
        let now = bits
        if now & (Self.observed | Self.alone) == 0 { return }
        point(.write)
        storage.store(now & ~(Self.observed | Self.alone), ordering: .relaxed)
    }

    /// Sets the mark for an observer that may take it back, unless another observer sets it before or afterwards.
    func setAlone() {
        if insert(Self.alone) & (Self.observed | Self.alone) != 0 { set() }
    }

    /// A mark that other observers have set stays.
    func takeBackAlone() {
        point(.change)
        storage.bitwiseAnd(~Self.alone, ordering: .relaxed)
    }

    /// Returns false if a reader that does as much stands already.
    func beginStanding(_ reader: StandingReader) -> Bool {
        insert(reader.rawValue) & reader.orMore == 0
    }

    func isStanding(_ reader: StandingReader) -> Bool { bits & reader.orMore != 0 }

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

/// A reader that keeps its promise wanted until the promise has settled. One of a kind is enough.
enum StandingReader: UInt8 {
    /// A shield that has no reader; the shield reports.
    case shield = 4
    /// The reader that `vow_detach` adds; the promise itself reports.
    case silent = 8

    /// This reader, or one that does more.
    fileprivate var orMore: UInt8 { rawValue | StandingReader.shield.rawValue }
}

@inline(__always)
func word<Pointee: ~Copyable>(of address: UnsafeMutablePointer<Pointee>?) -> UInt64 {
    UInt64(UInt(bitPattern: address))
}

@inline(__always)
func word(of address: UnsafeMutableRawPointer?) -> UInt64 { UInt64(UInt(bitPattern: address)) }
