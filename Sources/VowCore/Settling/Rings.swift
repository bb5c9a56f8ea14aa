// Rings: whether a promise would have to wait for itself.
//
// The path of waiting: a reaction waits for the promise that it reads, a follower for the one that it follows. A ring on
// that path is found because each follower first publishes which promise it follows (the step to `following`), enters the
// queue at the end of its path, and then looks, where that promise waits itself: at those that wait for it, and up beyond:
// docs/threads.md has the proof. The other links of a ring cannot vanish meanwhile: a reaction keeps its promise until its
// handler has begun, and a follower is only ever redirected further along its own path. Every look holds one visit and at
// most one lock at a time.
//
// A promise that needs each of others is looked through, as far as `RingSearch` goes. One of which another member, or a
// timer, can still make an end is no part of a ring. `LookedThrough` remembers what a look ahead has seen.

import CVow

/// What stands between a waiting thread and the promise it waits for.
enum Obstacle {
    /// Other threads' work, as far as one can see.
    case blocked
    /// Work that must run where this thread blocks.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// Work that was left in the parent process.
    case forked
}

// MARK: The path of waiting

/// What a promise waits for; the other promise is visited.
enum Upstream {
    case nothing
    /// A reaction waits for its promise.
    case reads(RecordPointer)
    /// A follower will take the other's outcome.
    case follows(RecordPointer)
    /// It waits for the other one, and its outcome is another: a `finally`, one that is cancelled or has a context.
    case waitsFor(RecordPointer)

    var promise: RecordPointer? {
        switch self {
        case .nothing: return nil
        case .reads(let promise), .follows(let promise), .waitsFor(let promise): return promise
        }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Read under the lock, because the queue it stands in or its claimer may change it.
    func lockedUpstream() -> Upstream {
        let word = pointee.state.lock()
        var found = Upstream.nothing
        // In other phases the slot is the claimer's, or holds the value.
        if word.phase == .following, let upstream {
            // A `finally` follows for no other reason. `passage` is the queue's to write. Whom its followers have left
            // has no outcome for anybody, though it be cancelled.
            let standsBetween =
                pointee.shape.contains(.finally) || keepsContext
                || pointee.flags.contains(RecordFlag.cancelled) && !hasYielded
            found = standsBetween ? .waitsFor(upstream) : .follows(upstream)
        } else if (word.phase == .open || word.phase == .cancelled && errorToCome == nil)
            && pointee.shape.isReaction, let upstream
        {
            found = .reads(upstream)
        }
        found.promise?.visit()
        pointee.state.unlock(word.phase, word.head)
        return found
    }

    /// Of one that follows, under its lock: its followers have gone on past it. Nobody will come for those who entered its
    /// queue now.
    var hasYielded: Bool { isOut && !keepsContext }
}

/// How many promises that follow others are passed on a path: who held them all could make each new follower of the first
/// one pass them all.
private var longestPath: Int {
    #if VOW_SCHEDULES
        return 2
    #else
        return 64
    #endif
}

/// Where a follower's path of adoptions ends, or has become long: the promise whose queue it has to stand in. Nil when the
/// path is a ring: then the follower is visited.
func endOfPath(from follower: RecordPointer, _ thread: ThreadPointer) -> PathEnd? {
    guard var current = follower.upstream else { fatal("a follower follows nothing") }
    current.visit()
    var watch = RingWatch(from: current)
    var isRing = current == follower
    var holdsOutcome = false
    var waits = false
    var stepsLeft = longestPath
    walk: while !isRing {
        switch current.lockedUpstream() {
        case .follows(let next) where stepsLeft == 0:
            next.endVisit(thread)
            holdsOutcome = true
            waits = true
            break walk
        case .follows(let next):
            stepsLeft -= 1
            // Adopted, though its follower will stand elsewhere.
            current.pointee.isObserved.set()
            current.pointee.flags.insert(RecordFlag.passed)
            current.endVisit(thread)
            current = next
            isRing = current == follower || watch.hasSeen(current, thread)
        case .waitsFor(let further):
            further.endVisit(thread)
            holdsOutcome = true
            waits = true
            break walk
        case .reads(let further):
            // A reaction whose promise has settled waits for its executor only.
            waits = !further.pointee.state.read().hasValue
            further.endVisit(thread)
            break walk
        case .nothing:
            // One that waits for each of others does not follow them.
            waits = current.needsEach != nil
            break walk
        }
    }
    if isRing { follower.visit() }
    watch.end(thread)
    if !isRing { return PathEnd(promise: current, holdsOutcome: holdsOutcome, waits: waits) }
    current.endVisit(thread)
    return nil
}

struct PathEnd {
    /// A visit.
    let promise: RecordPointer
    /// It follows another one itself, but its followers stand with it, or this one shall.
    let holdsOutcome: Bool
    /// It waits for another one, though not as one that follows: a ring may go on there.
    let waits: Bool
}

// MARK: The search

/// Whether the way upstream of a promise (borrowed) comes to a follower, or goes in circles. If so, the follower
/// is visited.
func leads(from start: RecordPointer, to follower: RecordPointer, _ thread: ThreadPointer) -> Bool {
    start.visit()
    guard let end = endOfWay(from: start, to: follower, thread) else { return true }
    defer { end.endVisit(thread) }
    guard let owner = end.needsEach else { return false }
    return withUnsafeTemporaryAllocation(of: LookedAt.self, capacity: LookedThrough.few) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a search") }
        var search = RingSearch(seen: LookedThrough(lent: memory))
        let isRing = leads(through: end, owner, to: follower, &search, thread)
        search.end(thread)
        return isRing
    }
}

/// How far combined promises are looked through: what one adoption costs has a bound.
private struct RingSearch: ~Copyable {
    var seen: LookedThrough
    /// How many members are still looked at, of combined promises behind the first one.
    var left = 1024
    var depth = 0

    consuming func end(_ thread: ThreadPointer) { seen.end(thread) }
}

/// - Parameters: end is borrowed, and observed by owner.
@inline(never)
private func leads(
    through end: RecordPointer, _ owner: UnsafeMutablePointer<ObserverOwner>,
    to follower: RecordPointer, _ search: inout RingSearch, _ thread: ThreadPointer
) -> Bool {
    // It may be one of more than are looked at.
    if follower.isLookedAt(by: owner) {
        follower.visit()
        return true
    }
    let isFirst = search.depth == 0
    if search.depth == deepestLook || !hasStackLeft() || !search.seen.isNew(end) { return false }
    search.depth += 1
    defer { search.depth -= 1 }
    var place = 0
    var heard = owner.pointee.view.heard(owner)
    while isFirst || search.left > 0 {
        switch owner.pointee.view.observed(owner, place) {
        case .noMore:
            let now = owner.pointee.view.heard(owner)
            if now == heard || owner.pointee.view.isConstant { return false }
            // One was perhaps not looked at.
            heard = now
            place = 0
            continue
        case .nothing, .leftInStep, .executor: break
        case .promise(let member):
            if !isFirst { search.left -= 1 }
            guard let further = endOfWay(from: member, to: follower, thread) else { return true }
            let next = further.needsEach
            let isRing = next.map { leads(through: further, $0, to: follower, &search, thread) }
            further.endVisit(thread)
            if isRing ?? false { return true }
        }
        place += 1
    }
    return false
}

/// Where the way upstream of a promise (a visit, consumed) ends (a visit). Nil: it comes to a follower, which is visited, or
/// goes in circles.
@inline(never)
private func endOfWay(
    from start: RecordPointer, to follower: RecordPointer, _ thread: ThreadPointer
) -> RecordPointer? {
    var current = start
    var watch = RingWatch(from: current)
    var isRing = start == follower
    while !isRing, let next = current.lockedUpstream().promise {
        current.endVisit(thread)
        current = next
        isRing = current == follower || watch.hasSeen(current, thread)
    }
    if isRing { follower.visit() }
    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)
    return nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a pending promise that waits for each of others, and for nothing else: who looks at them.
    @inline(__always)
    var needsEach: UnsafeMutablePointer<ObserverOwner>? {
        pointee.shape.isProduced ? observingEach : nil
    }

    @inline(never)
    private var observingEach: UnsafeMutablePointer<ObserverOwner>? {
        guard let owner = observing else { return nil }
        let view = owner.pointee.view
        return view.needsEach && !view.endsByItself ? owner : nil
    }
}

/// Sees that a walk goes in circles (Brent's algorithm): a mark is moved up at growing distances.
struct RingWatch: ~Copyable {
    /// A visit.
    private var mark: RecordPointer
    private var steps = 0
    private var distance = 1

    init(from start: RecordPointer) {
        start.visit()
        mark = start
    }

    /// After each step: whether the walk has been here before.
    mutating func hasSeen(_ current: RecordPointer, _ thread: ThreadPointer) -> Bool {
        if current == mark { return true }
        steps += 1
        if steps == distance {
            distance *= 2
            steps = 0
            mark.endVisit(thread)
            current.visit()
            mark = current
        }
        return false
    }

    consuming func end(_ thread: ThreadPointer) { mark.endVisit(thread) }
}

// MARK: What a follower does about rings once it has entered a queue

/// Of a follower (kept by the caller) that has entered the queue of a promise that waits itself: rejects it where it waits for
/// itself. Asked after it has entered, with read-modify-writes of each word on the way: see docs/threads.md.
func rejectIfRing(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let word = follower.pointee.state.lock()
    // Most have nobody who waits for them.
    let end = word.phase == .following && word.head != nil ? follower.upstream : nil
    end?.visit()
    follower.pointee.state.unlock(word.phase, word.head)
    guard let end else { return }
    if waitsForItself(follower, by: end, thread) {
        rejectMember(follower, thread)
        follower.endVisit(thread)
    }
    end.endVisit(thread)
}

/// If so, the follower is visited: see `leads`.
@inline(never)
func waitsForItself(
    _ follower: RecordPointer, by followed: RecordPointer, _ thread: ThreadPointer
) -> Bool {
    lookBelow(follower, for: followed, thread) == .perhaps
        && leads(from: followed, to: follower, thread)
}

/// A follower is a member of a ring.
private func rejectMember(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let word = follower.pointee.state.lock()
    // An outcome that is there is about to be taken, also that of another member's rejection or of a cancellation, which it
    // follows by now.
    if word.phase != .following || follower.upstream?.pointee.state.read().hasValue ?? true {
        follower.pointee.state.unlock(word.phase, word.head)
        return
    }
    claimLockedFollower(follower, word)
    let own = takeErrorOfLeft(follower)
    withdrawFollower(follower, own ?? ownErrors.cycle, thread)?.giveBack(leftWith: own, thread)
}

// MARK: What waits for a promise
//
// A promise's members wait for it, and theirs, and so on. Where that is few, a follower needs no walk up all that it waits
// for to know that it closes no ring: a chain of any length grows at its end without one.

/// How many of them are looked at.
private var most: Int {
    #if VOW_SCHEDULES
        return 3
    #else
        return 32
    #endif
}

enum Below {
    /// Nobody of them is who was looked for.
    case other
    /// It may be one: it was seen, or not all were looked at.
    case perhaps
}

/// Whether one promise (borrowed) is among those that wait for another one (borrowed). At most so many are looked at, each
/// under its own lock, and none is once it has a value.
///
/// A member is kept by its queue, or by what it looks for, as long as the lock is held, and beyond it as one more producer
/// would keep it: it gets no reader by this. Whoever takes it out of the queue later sees that count.
func lookBelow(
    _ promise: RecordPointer, for wanted: RecordPointer, _ thread: ThreadPointer
) -> Below {
    return withUnsafeTemporaryAllocation(of: RecordPointer.self, capacity: most) { memory in
        guard var last = memory.baseAddress else { fatal("no stack for a search") }
        let first = last
        last.initialize(to: promise)
        last += 1
        var next = first
        var found: Below = promise == wanted ? .perhaps : .other
        while next < last, found == .other {
            found = lookAtMembers(of: next.pointee, for: wanted, &last, first + most)
            next += 1
        }
        next = first + 1
        while next < last {
            next.pointee.releaseProducer(thread)
            next += 1
        }
        return found
    }
}

/// Adds the members of a promise's queue to those that are still to be looked at.
private func lookAtMembers(
    of promise: RecordPointer, for wanted: RecordPointer,
    _ last: inout UnsafeMutablePointer<RecordPointer>, _ end: UnsafeMutablePointer<RecordPointer>
) -> Below {
    // Who waits for it is told, and its word is the settling thread's.
    if promise.pointee.state.read().hasValue { return .other }
    let word = promise.pointee.state.lock()
    var found = Below.other
    var member = word.hasValue ? nil : word.head
    var steps = 0
    while let current = member, found == .other {
        // Behind a thread that waits is no promise that a ring of adoptions could go through.
        if !current.pointee.shape.isWaiter {
            let waiting = current.pointee.shape.isObserver ? current.combined : current
            if let waiting {
                if waiting == wanted || last == end {
                    found = .perhaps
                } else {
                    waiting.retainProducer()
                    last.initialize(to: waiting)
                    last += 1
                }
            }
        }
        steps += 1
        if steps == 2 * most { found = .perhaps }
        member = current.next
    }
    promise.pointee.state.unlock(word.phase, word.head)
    return found
}

// MARK: What a look ahead has looked through
//
// The combined promises that a look ahead has looked through, and the waits of other threads that it has looked behind,
// with what it found there: each is looked at once, however many ways lead to it, or the time would be exponential in the
// layers of a graph of tasks.
//
// A way may come back to one that is being looked through: a circle. The circle says nothing yet: a wait can end only if
// something besides the circle can. So what was found by way of circles is provisional (it *leans on* the outermost of the
// promises that it came back to) and holds until that one is through. Then it is forgotten, and what can end is known for
// good; a look that comes again looks again. Each ends so once, so a look takes n² steps at most, and n where nothing goes
// in circles.
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
