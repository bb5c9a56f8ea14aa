// The combined promises that a look ahead has looked through, and the waits of other threads that it has looked behind,
// with what it found there: each is looked at once, however many ways lead to it, or the time would be exponential in the
// layers of a graph of tasks.
//
// Each is kept until the look ends, so that no other promise comes to stand at its address.

/// How deep combined promises are looked through that wait for combined promises: a coroutine's stack, of which
/// nothing is known, must do.
let deepestLook = 64

/// On the stack of the look; takes memory only for more than a few.
struct LookedThrough: ~Copyable {
    /// How many slots the caller lends, on its stack.
    static let few = 16
    /// Whoever has more promises than fit into half of these waits without looking further.
    private static let most = 1 << 20

    /// How many of them the look is inside of at this moment.
    var depth = 0
    /// It is inside of one that a timer settles.
    var endsByItself = false
    /// All that it came past: see `WaitingThread`.
    var way: UInt64 = 0
    /// A table, open and at most half full, by address: the promise and, in the low bits, whether somebody's wait for it
    /// was looked behind, and the finding.
    private var slots: UnsafeMutablePointer<UInt64>
    private var capacity = LookedThrough.few
    private var count = 0
    /// The memory that is not the caller's.
    private var taken: UnsafeMutableRawPointer?

    init(lent: UnsafeMutablePointer<UInt64>) {
        slots = lent
        slots.initialize(repeating: 0, count: LookedThrough.few)
    }

    /// What was found behind a promise (borrowed), or `blocked` where that cannot be noted. Nil: nobody has looked. It
    /// then counts as `blocked` until the finding is noted, so that a ring of combined promises ends a look.
    mutating func recall(_ promise: RecordPointer, asAwaited: Bool = false) -> Obstacle? {
        let key = key(of: promise, asAwaited)
        let slot = slot(of: key)
        if slots[slot] != 0 { return obstacle(slots[slot] & 0b0111) }
        if 2 * (count + 1) > capacity && !grow() {
            way = allPromises
            return .blocked
        }
        promise.retain()
        slots[self.slot(of: key)] = key
        count += 1
        return nil
    }

    /// Of one that was not known. What can be run ends the whole look, and is not noted.
    mutating func note(_ found: Obstacle, at promise: RecordPointer, asAwaited: Bool = false) {
        let key = key(of: promise, asAwaited)
        slots[slot(of: key)] = key | bits(found)
    }

    /// The look ends.
    @inline(never)
    consuming func end(_ thread: ThreadPointer) {
        if count == 0 { return }
        for slot in 0..<capacity { promise(of: slots[slot])?.release(thread) }
        if let taken { giveMemoryBack(taken, capacity * MemoryLayout<UInt64>.stride) }
    }

    private func promise(of key: UInt64) -> RecordPointer? {
        RecordPointer(bitPattern: UInt(key & ~0b1111))
    }

    private func key(of promise: RecordPointer, _ asAwaited: Bool) -> UInt64 {
        UInt64(UInt(bitPattern: promise)) | (asAwaited ? 0b1000 : 0)
    }

    /// Where a promise stands, or would.
    private func slot(of key: UInt64) -> Int {
        guard let promise = promise(of: key) else { fatal("a look at no promise") }
        var slot = Int(hashOfAddress(promise) >> 32) & (capacity - 1)
        while slots[slot] != 0, slots[slot] & ~0b0111 != key {
            slot = (slot + 1) & (capacity - 1)
        }
        return slot
    }

    private mutating func grow() -> Bool {
        let (old, oldCapacity, oldMemory) = (slots, capacity, taken)
        let size = 4 * oldCapacity * MemoryLayout<UInt64>.stride
        guard 4 * oldCapacity <= LookedThrough.most, let memory = takeMemory(size) else {
            return false
        }
        taken = memory
        capacity = 4 * oldCapacity
        slots = memory.bindMemory(to: UInt64.self, capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
        for index in 0..<oldCapacity where old[index] != 0 {
            slots[slot(of: old[index] & ~0b0111)] = old[index]
        }
        if let oldMemory { giveMemoryBack(oldMemory, oldCapacity * MemoryLayout<UInt64>.stride) }
        return true
    }
}

private func bits(_ obstacle: Obstacle) -> UInt64 {
    switch obstacle {
    case .blocked, .runnable: return 0
    case .deadlock: return 1
    case .forked: return 2
    }
}

private func obstacle(_ bits: UInt64) -> Obstacle {
    switch bits {
    case 1: return .deadlock
    case 2: return .forked
    default: return .blocked
    }
}
