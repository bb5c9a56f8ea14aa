// What a follower does about rings once it has entered a queue: see docs/threads.md, "A ring that several threads close".

import CVow

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
