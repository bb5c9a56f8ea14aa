// The combined promises that a look ahead has looked through, and the waits of other threads that it has looked behind,
// with what it found there: each is looked at once, however many ways lead to it, or the time would be exponential in the
// layers of a graph of tasks.
//
// A way may come back to one that is being looked through: a circle. It says nothing yet: a wait can end only if something
// besides the circle can. So what was found by way of circles is provisional (it *leans on* the outermost of the promises that
// it came back to) and holds until that one is through. Then it is forgotten, and what can end is known for good; whoever
// comes again looks again. Each ends so once, so a look takes n² steps at most, and n where nothing goes in circles.
//
// Each is kept until the look ends, so that no other promise comes to stand at its address.

/// How deep combined promises are looked through that wait for combined promises: a coroutine's stack, of which
/// nothing is known, must do.
let deepestLook = 64

/// What a look found behind a promise.
struct Finding {
    /// Nil: circles, and nothing besides that is known to last.
    var obstacle: Obstacle?
    /// The depth of the outermost promise it leans on; `nothing` where that is none.
    var leansOn = Finding.nothing

    static let nothing = UInt32.max
    static var blocked: Finding { Finding(obstacle: .blocked) }
    static var deadlock: Finding { Finding(obstacle: .deadlock) }
    static var forked: Finding { Finding(obstacle: .forked) }
}

struct LookedAt {
    fileprivate enum Kind: UInt32 {
        case forgotten, inside, blocked, deadlock, forked, circle
    }

    /// The promise and, in the low bits, whether somebody's wait for it was looked behind. 0: free.
    fileprivate var key: UInt64 = 0
    /// Of a provisional finding, the key of the one before it; of one that the look is inside of, of the last at that time.
    fileprivate var before: UInt64 = 0
    fileprivate var kind = Kind.forgotten
    /// Of one that the look is inside of, its depth.
    fileprivate var leansOn = Finding.nothing
}

/// On the stack of the look; takes memory only for more than a few.
struct LookedThrough: ~Copyable {
    /// How many slots the caller lends, on its stack.
    static let few = 16
    /// Whoever has more promises than fit into half of these bytes waits without looking further.
    private static let most = 1 << 21

    /// How many of them the look is inside of at this moment.
    private(set) var depth: UInt32 = 0
    /// It is inside of one that a timer settles.
    var endsByItself = false
    /// All that it came past: see `WaitingThread`.
    var way: UInt64 = 0
    /// A table, open and at most half full, by address.
    private var slots: UnsafeMutablePointer<LookedAt>
    private var capacity = LookedThrough.few
    private var count = 0
    /// The key of the last provisional finding, 0 where there is none.
    private var lastProvisional: UInt64 = 0
    /// The memory that is not the caller's.
    private var taken: UnsafeMutableRawPointer?

    init(lent: UnsafeMutablePointer<LookedAt>) {
        slots = lent
        slots.initialize(repeating: LookedAt(), count: LookedThrough.few)
    }

    /// False where that is too deep, for this or for the stack.
    var mayGoDeeper: Bool { depth < UInt32(deepestLook) && hasStackLeft() }

    /// What is known of a promise (borrowed), or `blocked` where nothing can be noted. Nil: the look is inside of it from here
    /// on, until `leave`.
    mutating func enter(_ promise: RecordPointer, asAwaited: Bool = false) -> Finding? {
        guard let slot = add(key(of: promise, asAwaited)) else { return .blocked }
        if let known = finding(in: slots[slot]) { return known }
        depth += 1
        slots[slot].kind = .inside
        slots[slot].leansOn = depth
        slots[slot].before = lastProvisional
        return nil
    }

    /// What was found behind the promise that was entered last; returned as its own. What can be run ends the whole look, and
    /// is not noted.
    mutating func leave(
        _ promise: RecordPointer, asAwaited: Bool = false, _ found: Finding
    ) -> Finding {
        let key = key(of: promise, asAwaited)
        let slot = slot(of: key)
        let before = slots[slot].before
        var found = found
        if found.leansOn < depth {
            leanAll(on: found.leansOn, downTo: before)
            slots[slot].before = lastProvisional
            lastProvisional = key
        } else {
            // Nothing but a circle of other threads' waits, of which one is refused, or of followers, of which one is rejected.
            if found.obstacle == nil { found.obstacle = .blocked }
            found.leansOn = Finding.nothing
            forgetAll(downTo: before)
        }
        slots[slot].kind = kind(of: found)
        slots[slot].leansOn = found.leansOn
        depth -= 1
        return found
    }

    /// Whether nobody has asked before. False where that cannot be noted. For those who look for nothing else.
    mutating func isNew(_ promise: RecordPointer) -> Bool {
        let before = count
        return add(key(of: promise, false)) != nil && count > before
    }

    /// The look ends.
    @inline(never)
    consuming func end(_ thread: ThreadPointer) {
        if count == 0 { return }
        for slot in 0..<capacity { promise(of: slots[slot].key)?.endVisit(thread) }
        if let taken { giveMemoryBack(taken, capacity * MemoryLayout<LookedAt>.stride) }
    }

    /// What leaned on one that is left leans on what that one leans on.
    private mutating func leanAll(on outer: UInt32, downTo first: UInt64) {
        var key = lastProvisional
        while key != first {
            let slot = slot(of: key)
            slots[slot].leansOn = min(slots[slot].leansOn, outer)
            key = slots[slot].before
        }
    }

    private mutating func forgetAll(downTo first: UInt64) {
        while lastProvisional != first {
            let slot = slot(of: lastProvisional)
            slots[slot].kind = .forgotten
            lastProvisional = slots[slot].before
        }
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
        while slots[slot].key != 0, slots[slot].key != key {
            slot = (slot + 1) & (capacity - 1)
        }
        return slot
    }

    /// Where it stands from here on. Nil: there is no room.
    private mutating func add(_ key: UInt64) -> Int? {
        let slot = slot(of: key)
        if slots[slot].key != 0 { return slot }
        if 2 * (count + 1) > capacity && !grow() {
            way = allPromises
            return nil
        }
        promise(of: key)?.visit()
        let free = self.slot(of: key)
        slots[free].key = key
        count += 1
        return free
    }

    private mutating func grow() -> Bool {
        let (old, oldCapacity, oldMemory) = (slots, capacity, taken)
        let size = 4 * oldCapacity * MemoryLayout<LookedAt>.stride
        guard size <= LookedThrough.most, let memory = takeMemory(size) else { return false }
        taken = memory
        capacity = 4 * oldCapacity
        slots = memory.bindMemory(to: LookedAt.self, capacity: capacity)
        slots.initialize(repeating: LookedAt(), count: capacity)
        for index in 0..<oldCapacity where old[index].key != 0 {
            slots[slot(of: old[index].key)] = old[index]
        }
        if let oldMemory { giveMemoryBack(oldMemory, oldCapacity * MemoryLayout<LookedAt>.stride) }
        return true
    }
}

private func kind(of found: Finding) -> LookedAt.Kind {
    switch found.obstacle {
    case .deadlock: return .deadlock
    case .forked: return .forked
    case .blocked, .runnable: return .blocked
    case nil: return .circle
    }
}

private func finding(in seen: LookedAt) -> Finding? {
    switch seen.kind {
    case .forgotten: return nil
    case .blocked: return .blocked
    case .deadlock: return Finding(obstacle: .deadlock, leansOn: seen.leansOn)
    case .forked: return Finding(obstacle: .forked, leansOn: seen.leansOn)
    case .inside, .circle: return Finding(obstacle: nil, leansOn: seen.leansOn)
    }
}
