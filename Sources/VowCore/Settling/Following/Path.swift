// The path of waiting: a reaction waits for the promise it reads, a follower for the one it follows.
//
// A ring on that path is found because each follower first publishes whom it follows (the step to
// `following`), enters the queue at the end of its path, and then looks, where that promise waits itself: at those who wait
// for it, and up beyond: docs/threads.md has the proof. The other links of a ring cannot vanish meanwhile: a reaction keeps
// its promise until its handler has begun, and a follower is only ever redirected further along its own path.
//
// Every look holds one visit and at most one lock at a time.

import CVow

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
