// Rings: whether a promise would have to wait for itself.
//
// A reaction waits for the promise that it reads, a follower for the promise that it follows. A ring of such links is found
// because each follower first publishes which promise it follows (the step to `following`), enters the queue at the end of
// its path, and then looks, if that promise waits itself: down, at the promises that wait for the follower (`lookBelow`),
// and, if these are many, up from the promise that it follows (`leads`). docs/threads.md has the proof that of several
// threads that close a ring the last one finds it. The other links of a ring cannot vanish meanwhile: a reaction keeps its
// promise until its handler has begun, and a follower is only ever redirected further along its own path. A search holds at
// most one lock at a time, and keeps the promises that it is at by visits.
//
// A combined promise that needs each of its members waits for all of them, and the search goes on behind each. A combined
// promise that another member or a timer can settle is no part of a ring. `Seen` holds the combined promises of a search.

import CVow

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

/// How many members of combined promises are looked at behind the first combined promise: an adoption's cost has a bound.
private let mostMembersBehind = 1024

/// Whether the way upstream of a promise (borrowed) comes to a follower, or goes in circles. If so, the follower is visited.
func leads(from start: RecordPointer, to follower: RecordPointer, _ thread: ThreadPointer) -> Bool {
    start.visit()
    guard let end = endOfWay(from: start, to: follower, thread) else { return true }
    defer { end.endVisit(thread) }
    if end.needsEach == nil { return false }
    return withSeen { (seen: consuming Seen) in
        _ = seen.place(of: end)
        var isRing = false
        var left = mostMembersBehind
        var place = 0
        while place < seen.count, !isRing {
            isRing = leads(through: place, to: follower, &left, &seen, thread)
            place += 1
        }
        seen.end(thread)
        return isRing
    }
}

/// The same behind each member of a combined promise; further combined promises that need each member are put down.
private func leads(
    through place: Int, to follower: RecordPointer, _ left: inout Int, _ seen: inout Seen,
    _ thread: ThreadPointer
) -> Bool {
    let combined = seen[place].promise
    guard let owner = combined.needsEach else { return false }
    // The follower may be a member beyond those that are looked at.
    if follower.isLookedAt(by: owner) {
        follower.visit()
        return true
    }
    let view = owner.pointee.view
    var heard = view.heard(owner)
    var index = 0
    while place == 0 || left > 0 {
        switch view.observed(owner, index) {
        case .noMore:
            let now = view.heard(owner)
            if now == heard || view.isConstant { return false }
            // A member has moved to another place, perhaps to one that was passed already.
            heard = now
            index = 0
            continue
        case .nothing, .leftInStep, .executor: break
        case .promise(let member):
            if place > 0 { left -= 1 }
            guard let end = endOfWay(from: member, to: follower, thread) else { return true }
            if end.needsEach != nil { _ = seen.place(of: end) }
            end.endVisit(thread)
        }
        index += 1
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

// MARK: What a search has seen

/// What stands between a waiting thread and the promise it waits for.
enum Obstacle {
    /// Other threads' work, as far as the thread can see.
    case blocked
    /// Work that must run where this thread blocks.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// Work that was left in the parent process.
    case forked
}

/// The promises that a search has come to, in that order, each once, with the answer that it has found for each. They are
/// visited until the search ends, so that no other promise comes to one of the addresses.
///
/// One block of memory holds the entries and, behind them, a hash table: for each hash the entry that was added last, from
/// which `before` leads to the others. The caller lends the first block, on its stack.
struct Seen: ~Copyable {
    struct Entry {
        /// The promise's address. Its lowest bit: the entry is the promise that another thread waits for.
        fileprivate let key: UInt
        /// The entry with the same hash, counted from 1; 0: none.
        fileprivate var before: UInt32
        /// The entry below this one in the stack of those that the search has not finished, counted from 1.
        fileprivate let below: UInt32
        /// A timer settles the combined promise through which the search has come here.
        let isTimed: Bool
        /// Nil: not known yet.
        var answer: Obstacle?

        var promise: RecordPointer {
            guard let promise = RecordPointer(bitPattern: key & ~1) else { fatal("an empty entry") }
            return promise
        }
        var isAwaited: Bool { key & 1 != 0 }
    }

    fileprivate static let few = 16
    /// A search that would need more memory than this many bytes goes no further.
    private static let most = 1 << 22
    fileprivate static func size(_ capacity: Int) -> Int {
        capacity * (MemoryLayout<Entry>.stride + MemoryLayout<UInt32>.stride)
    }

    private(set) var count = 0
    private var capacity = Seen.few
    private var top: UInt32 = 0
    private var memory: UnsafeMutableRawPointer

    fileprivate init(lent: UnsafeMutableRawPointer) {
        memory = lent
        clearHeads()
    }

    private var entries: UnsafeMutablePointer<Entry> { memory.assumingMemoryBound(to: Entry.self) }
    private var heads: UnsafeMutablePointer<UInt32> {
        (memory + capacity * MemoryLayout<Entry>.stride).assumingMemoryBound(to: UInt32.self)
    }

    subscript(place: Int) -> Entry {
        get { entries[place] }
        nonmutating set { entries[place] = newValue }
    }

    /// Where a promise (borrowed) has its entry, which is added if there is none. Nil: there is no room.
    mutating func place(of promise: RecordPointer, isAwaited: Bool = false, isTimed: Bool = false)
        -> Int?
    {
        let key = UInt(bitPattern: promise) | (isAwaited ? 1 : 0)
        var place = heads[hash(of: promise)]
        while place != 0 {
            if entries[Int(place) - 1].key == key { return Int(place) - 1 }
            place = entries[Int(place) - 1].before
        }
        if count == capacity && !grow() { return nil }
        promise.visit()
        (entries + count).initialize(to: Entry(key: key, before: 0, below: top, isTimed: isTimed))
        count += 1
        top = UInt32(count)
        putInTable(count - 1)
        return count - 1
    }

    /// The entry that the search goes on with: of those that it has not finished, the last one that was added.
    var unfinished: Int? { top == 0 ? nil : Int(top) - 1 }
    mutating func finish() { top = entries[Int(top) - 1].below }

    @inline(never)
    consuming func end(_ thread: ThreadPointer) {
        for place in 0..<count { entries[place].promise.endVisit(thread) }
        if capacity > Seen.few { giveMemoryBack(memory, Seen.size(capacity)) }
    }

    private func hash(of promise: RecordPointer) -> Int {
        Int(hashOfAddress(promise) >> 32) & (capacity - 1)
    }

    private func clearHeads() { heads.initialize(repeating: 0, count: capacity) }

    private func putInTable(_ place: Int) {
        let hash = hash(of: entries[place].promise)
        entries[place].before = heads[hash]
        heads[hash] = UInt32(place) + 1
    }

    private mutating func grow() -> Bool {
        let (old, oldMemory, oldCapacity) = (entries, memory, capacity)
        guard Seen.size(4 * capacity) <= Seen.most, let new = takeMemory(Seen.size(4 * capacity))
        else { return false }
        memory = new
        capacity *= 4
        entries.moveInitialize(from: old, count: count)
        clearHeads()
        for place in 0..<count { putInTable(place) }
        if oldCapacity > Seen.few { giveMemoryBack(oldMemory, Seen.size(oldCapacity)) }
        return true
    }
}

/// Calls the body, which ends what it is given.
func withSeen<Result>(_ body: (consuming Seen) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Seen.size(Seen.few), alignment: 16) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a search") }
        return body(Seen(lent: memory))
    }
}
