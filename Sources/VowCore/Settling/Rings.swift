// Rings: whether a promise would have to wait for itself (G8).
//
// A reaction waits for the promise that it reads, a follower for the promise that it follows, and a combined promise that
// needs each of its members for all of them. A combined promise that another member or a timer can settle is no part of a
// ring. A search holds at most one lock at a time, and keeps the promises that it is at by visits.
//
// *What a follower F does.* F publishes the promise that it follows (`transitionToFollowing`), and then walks its path of
// adoptions (`endOfPath`). The publish and each lock on the way are read-modify-writes of a word. A path that comes back to
// F rejects F with `VOW_ECYCLE`. Else the path ends at a promise E, and F enters E's queue. If E has changed meanwhile, has
// lost its last reader or its followers, F begins again. A ring may go on behind E in four cases: E is a reaction whose
// promise is pending, a follower with its own outcome (`waitsFor`), a combined promise that needs each member, or the next
// promise after 64 that follow (`longestPath`; decision 0020). Then F looks after it has entered (`rejectIfRing`):
//
// - F looks under its own lock whether its queue is empty. Mostly it is, and then F closes no ring and walks no further.
// - F looks down from queue to queue at the promises that wait for it, 32 at most (`lookBelow`). If these are all, and E is
//   not among them, there is no ring. So a chain of any length grows at its end at the same price.
// - F walks up from E through links of every kind (`leads`). If the walk comes back to F, F claims itself, leaves the queue
//   as a cancelled follower does, and is rejected.
//
// *Claim:* once all links of a ring exist (each promise is in the queue of the next, and no thread is at work), a follower
// of the ring has found it. *Proof:* Suppose that none has. The link of a reaction or an observer exists since its
// registration, before any thread knows its promise; the link of a follower, since its entry. Each follower M of the ring
// has entered the queue of its E, and has then looked for the last time, if it had to. For each M there is another follower
// K of the ring that published or entered after M's last step (*happens before*), and so took its own last step later. The
// ring is finite, so some step would happen before itself: a contradiction. K exists in each case:
//
// 1. E did not wait when M entered. As a part of the ring E follows now, so E published later: M's entry releases, and E's
//    publish, a read-modify-write of the same word, acquires. K is E.
// 2. M's queue was empty when M looked. The promise of the ring that waits for M has entered this queue later, by a
//    read-modify-write that acquires what M's `unlock` released. If it is a follower, it is K. If it is a reaction, the
//    promise in the reaction's own queue entered after the reaction's registration, and so on backwards along the ring. The
//    first follower is K.
// 3. M looked down, saw all that waited, and did not see E. Backwards along the ring from M, some member was not in its
//    queue yet when M looked at that queue. It entered later: K as in case 2.
// 4. M walked up and stopped at a promise that had not published. M's `unlock` of its word releases, and the publish
//    acquires. K is that promise.
//
// So of two threads that close a ring from both ends at once, both enter and then look, and the look that begins last finds
// the ring. If both find it, both followers are rejected. The others follow, and take the rejection.
//
// *Lifetimes.* Once F has entered, its queue owns it and may be settled: one more producer's reference keeps F for its
// look. `lookBelow` keeps members that may have no reader in the same way. A promise in between that moves its followers
// makes each enter anew, and look anew.
//
// *Combined promises.* Observers enter the queues of the members before any thread knows the combined promise, so the proof
// treats an observer as a reaction. The observers of map, reduce, repeat and retry look at work of their own, which exists
// before its executor has it, and which is a follower once it follows the promise of the program's function. A walk reads
// an observer under the observer's lock and a scope's members under the scope's lock; both are older than any publish
// behind them. A walk looks through a combined promise once, and behind the first one at 1,024 members in all, 256 of a
// scope: an adoption's cost has a bound.
//
// *Links that vanish.* Release and acquire are enough. A reaction keeps its promise until its handler has begun; a follower
// moves only further along its own path. A cancelled follower, or a promise in between that dies because its followers have
// passed it, opens the ring: then there is nothing to find. A promise that stands in between only for a handle is claimed
// when the handle is given back, leaves its queue, and follows anew (`releaseHandle`): it publishes once more and then
// looks. A follower that came to it while it was claimed is in its queue, and had published before.
//
// *Tests:* `follow.pml` searches all rings of three and four, `follow-long` the rings of three where no promise is passed;
// the schedules `ring-through-*` close rings from two threads, and `handle-released-*` give handles back.

import CVow

// MARK: The path of waiting

/// The promise that a promise waits for, as a visit.
enum Upstream {
    case nothing
    /// A reaction waits for its promise.
    case reads(RecordPointer)
    /// A follower will take the outcome of its promise.
    case follows(RecordPointer)
    /// The promise waits for the other one for an outcome of its own: a `finally`, cancelled, or with a context.
    case waitsFor(RecordPointer)

    var promise: RecordPointer? {
        switch self {
        case .nothing: return nil
        case .reads(let promise), .follows(let promise), .waitsFor(let promise): return promise
        }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Read under the lock, because the owner of the promise's queue or the claimer may change it.
    func lockedUpstream() -> Upstream {
        let word = pointee.state.lock()
        var found = Upstream.nothing
        // In other phases the slot is the claimer's, or holds the value.
        if word.phase == .following, let upstream {
            // A `finally` follows only to wait; the field `passage`, which says so too, is its queue's to write. A promise
            // that its followers have left has no reader for an outcome of its own, even if it is cancelled.
            let standsBetween =
                pointee.shape.contains(.finally) || keepsContext
                || pointee.flags.contains(RecordFlag.cancelled) && !hasYielded
            found = standsBetween ? .waitsFor(upstream) : .follows(upstream)
        } else if word.phase == .open {
            if pointee.shape.isReaction, let upstream { found = .reads(upstream) }
        } else if word.phase == .cancelled && errorToCome == nil {
            if pointee.shape.isReaction, let upstream { found = .reads(upstream) }
        } else if let awaited = awaitedByFiber(in: word) {
            found = .reads(awaited)
        }
        found.promise?.visit()
        pointee.state.unlock(word.phase, word.head)
        return found
    }

    /// Under its lock: the followers have left this following promise, so no thread takes a later member.
    var hasYielded: Bool { isOut && !keepsContext }
}

/// The most following promises that a path passes. Unbounded, n followers of a chain of n take n² steps.
private var longestPath: Int {
    #if VOW_SCHEDULES
        return 2
    #else
        return 64
    #endif
}

/// The promise whose queue a follower enters: the end of its path, or of the path's first part. Nil: the path is a ring;
/// the follower is visited.
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
            // This promise counts as adopted, though its follower enters another queue.
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
            // A reaction whose promise has settled waits for its executor only; a fiber may wait again.
            waits = !further.pointee.state.read().hasValue || current.pointee.shape == .ofFiber
            further.endVisit(thread)
            break walk
        case .nothing:
            // A combined promise does not follow its members. A fiber may begin to wait without another phase.
            waits = current.needsEach != nil || current.pointee.shape == .ofFiber
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
    /// The promise follows another one, but its followers, or this follower, stay in its queue.
    let holdsOutcome: Bool
    /// The promise waits for another one otherwise than by following it: a ring may go on there.
    let waits: Bool
}

// MARK: The search

/// Bounds the cost of an adoption: members looked at behind the first combined promise.
private let mostMembersBehind = 1024

/// Whether the way upstream of a promise (borrowed) comes to a follower, or goes in circles. If so, the follower is
/// visited.
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

/// The same behind each member of a combined promise. Adds further combined promises that need each member to `seen`.
private func leads(
    through place: Int, to follower: RecordPointer, _ left: inout Int, _ seen: inout Seen,
    _ thread: ThreadPointer
) -> Bool {
    let combined = seen[place].promise
    guard let owner = combined.needsEach else { return false }
    // The follower may be a member beyond the bound.
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
            // A member has moved to another place, perhaps to a place that was passed already.
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

/// The end (a visit) of the way upstream of a promise (a visit, consumed). Nil: it comes to a follower, which is visited,
/// or circles.
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
    /// The owner of the observers of a pending promise that only waits for each of its members; else nil.
    var needsEach: UnsafeMutablePointer<ObserverOwner>? {
        guard pointee.shape.isProduced, let owner = observing else { return nil }
        let view = owner.pointee.view
        return view.needsEach && !view.endsByItself ? owner : nil
    }
}

/// Sees that a walk goes in circles (Brent's algorithm): the mark moves up to the walk at growing distances.
struct RingWatch: ~Copyable {
    /// A visit.
    private var mark: RecordPointer
    private var steps = 0
    private var distance = 1

    init(from start: RecordPointer) {
        start.visit()
        mark = start
    }

    /// Called after each step: whether the walk was here before.
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

// MARK: A follower looks for a ring once it has entered a queue

/// Rejects a follower (kept by the caller) that waits for itself. Called after the follower has entered the queue of a
/// promise that waits; the locks on the way are read-modify-writes. See the head of this file.
func rejectIfRing(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let word = follower.pointee.state.lock()
    // Mostly no promise waits for the follower.
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

/// If true, the follower is visited: see `leads`.
@inline(never)
func waitsForItself(
    _ follower: RecordPointer, by followed: RecordPointer, _ thread: ThreadPointer
) -> Bool {
    lookBelow(follower, for: followed, thread) == .perhaps
        && leads(from: followed, to: follower, thread)
}

/// Rejects a follower that is a member of a ring.
private func rejectMember(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let word = follower.pointee.state.lock()
    // Else an outcome is about to be taken: perhaps another member's rejection, or a cancellation.
    if word.phase != .following || follower.upstream?.pointee.state.read().hasValue ?? true {
        follower.pointee.state.unlock(word.phase, word.head)
        return
    }
    claimLockedFollower(follower, word)
    let own = takeErrorOfLeft(follower)
    withdrawFollower(follower, own ?? ownErrors.cycle, thread)?.giveBack(leftWith: own, thread)
}

// MARK: The promises that wait for a promise

/// The most promises that `lookBelow` looks at.
private var most: Int {
    #if VOW_SCHEDULES
        return 3
    #else
        return 32
    #endif
}

enum Below {
    /// The wanted promise is not among them.
    case other
    /// The wanted promise may be among them: the look saw it, or did not see all.
    case perhaps
}

/// Whether a promise (borrowed) is among the promises that wait for another one (borrowed). Each is looked at under its own
/// lock, and only while it has no value.
///
/// While the lock is held, its queue, or the promise that it looks for, keeps a member. Beyond that a producer's reference
/// keeps it, so it gets no reader; the thread that takes it out of the queue later sees that count.
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

/// Adds the members of a promise's queue to the list.
private func lookAtMembers(
    of promise: RecordPointer, for wanted: RecordPointer,
    _ last: inout UnsafeMutablePointer<RecordPointer>, _ end: UnsafeMutablePointer<RecordPointer>
) -> Below {
    // A settled promise notifies its members, and its word is the settling thread's.
    if promise.pointee.state.read().hasValue { return .other }
    let word = promise.pointee.state.lock()
    var found = Below.other
    var member = word.hasValue ? nil : word.head
    var steps = 0
    while let current = member, found == .other {
        // No ring of adoptions goes through a waiting thread; a fiber's waiter has the fiber's promise as its `upstream`.
        let shape = current.pointee.shape
        let waiting =
            shape.isObserver ? current.combined : shape.isWaiter ? current.upstream : current
        if let waiting {
            if waiting == wanted || last == end {
                found = .perhaps
            } else {
                waiting.retainProducer()
                last.initialize(to: waiting)
                last += 1
            }
        }
        steps += 1
        if steps == 2 * most { found = .perhaps }
        member = current.next
    }
    promise.pointee.state.unlock(word.phase, word.head)
    return found
}

// MARK: The promises that a search has seen

/// A finding: how the awaited promise depends on a thread's wait.
enum Obstacle {
    /// The wait may end by work of other threads, as far as the thread can see.
    case blocked
    /// The wait keeps back work that it waits for.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// The parent process has the work.
    case forked
}

/// The promises that a search has come to, each once and in that order, with the answer for each. They are visited until
/// the search ends, so no other promise comes to one of the addresses.
///
/// One block of memory holds the entries and, behind them, a hash table: for each hash the entry that was added last, from
/// which `before` leads to the others. The caller lends the first block, on its stack.
struct Seen: ~Copyable {
    struct Entry {
        /// The promise's address. Its lowest bit: a wait of another thread is for this promise.
        fileprivate let key: UInt
        /// The entry with the same hash, counted from 1; 0: none.
        fileprivate var before: UInt32
        /// The next lower entry in the stack of unfinished entries, counted from 1.
        fileprivate let below: UInt32
        /// A timer settles the combined promise through which the search came here.
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
    /// The most bytes of a search.
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

    /// The place of a promise (borrowed), whose entry is added if there is none. Nil: there is no room.
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

    /// The unfinished entry that was added last: the search goes on with it.
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

/// Calls the body, which ends its argument.
func withSeen<Result>(_ body: (consuming Seen) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Seen.size(Seen.few), alignment: 16) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a search") }
        return body(Seen(lent: memory))
    }
}
