// A follower goes on to another promise, further along its own path.

import CVow

enum Redirection {
    case isDone
    /// The follower was cancelled meanwhile: this thread has let go of it.
    case isLost
    /// Nobody reads that promise any more.
    case isTooLate
}

/// Changes whom a follower follows, under its lock, for those who walk past it meanwhile.
///
/// As long as what it followed before may be kept for it, that one may be taken for another reader of what it follows now.
/// So who cancels it then leaves it to this thread to find out whether there is one.
/// - Parameter isVisit: the promise is a visit, consumed, and it may be too late for it; else it is borrowed, and nobody but
///   who is cancelled can come too late: see docs/threads.md.
func redirect(
    _ follower: RecordPointer, to followed: RecordPointer, isVisit: Bool, _ thread: ThreadPointer
) -> Redirection {
    let word = follower.pointee.state.lock()
    guard word.phase == .following, let before = follower.upstream else {
        follower.pointee.state.unlock(word.phase, word.head)
        follower.markOut()
        if isVisit { followed.endVisit(thread) }
        return .isLost
    }
    // Nobody comes to that any more: what it has goes over to the follower, and it dies.
    let inherits = before != followed && before.isOnlyMine && before.follows(followed)
    let stands = before == followed || inherits
    // It does not leave while it is on its way.
    let hasLeft = follower.hasLeft
    if !stands {
        if hasLeft {
            if !isVisit { followed.visit() }
        } else if !isVisit {
            followed.retain()
        } else if !followed.stay() {
            follower.pointee.state.unlock(word.phase, word.head)
            followed.endVisit(thread)
            return .isTooLate
        }
        follower.isOnTheWay = true
    }
    if inherits { before.upstream = nil }
    if isWatched && before != followed { noteFollows(follower, followed, isFirst: false) }
    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }
    if hasLeft { before.endVisit(thread) } else { leaveBehind(before, thread) }
    return arrive(follower)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of one that only the caller has.
    fileprivate func follows(_ followed: RecordPointer) -> Bool {
        pointee.state.read().phase == .following && upstream == followed
    }
}

private func arrive(_ follower: RecordPointer) -> Redirection {
    let word = follower.pointee.state.lock()
    let isMine = word.phase == .following
    if isMine { follower.isOnTheWay = false }
    follower.pointee.state.unlock(word.phase, word.head)
    if isMine { return .isDone }
    follower.markOut()
    return .isLost
}

/// A follower has gone on, past a promise (consumed) that it followed so far. If it was the last reader nobody needs
/// that, though it be a reaction: what it is for goes on with the follower.
private func leaveBehind(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.pointee.state.read().hasValue {
        promise.release(thread)
    } else {
        releasePending(promise, isPassed: true, thread)
    }
}
