// A look for a member far down in a queue: the promise is unlocked after each piece, so that nobody waits for the whole of
// it.
//
// In between, the member where the look stands may be taken out by somebody else. Who takes a member out moves the looks
// that stand there to the one before, so it asks, under the lock, whether there are any in pieces.

import CVowPlatform

private typealias DescentPointer = UnsafeMutablePointer<Descent>

/// On the stack of the looking thread, and in a list.
private struct Descent: ~Copyable {
    /// `Look.place`, while the promise is not locked. Written under its lock. Who takes members out of other queues reads
    /// it, too, and finds that it is none of theirs.
    let place = AtomicWord(0)
    var next: DescentPointer?
    var previous: DescentPointer?
}

private let descentsLock = SpinLock()
nonisolated(unsafe) private var firstDescent: DescentPointer?
/// Who locks a promise after a descent has unlocked it finds that one counted.
private let descentCount = AtomicWord(0)

/// See `unlink`. The caller keeps the promise.
@inline(never)
func unlinkInPieces(_ member: RecordPointer, outOf state: borrowing PromiseState) -> Bool {
    var descent = Descent()
    return withUnsafeMutablePointer(to: &descent) { descent in
        enter(descent)
        defer { leave(descent) }
        var look = Look()
        var result = Unlinked.deeper
        while result == .deeper {
            result = withLock(of: state, descent, &look) { unlink(member, from: $0, &$1) }
        }
        var goesOn = result == .out
        while goesOn {
            goesOn = withLock(of: state, descent, &look) { word, look in
                (!word.hasValue && fillFurther(&look, from: word.head), word.head)
            }
        }
        return result == .out
    }
}

/// One piece, and then the others' turn.
private func withLock<Result>(
    of state: borrowing PromiseState, _ descent: DescentPointer, _ look: inout Look,
    _ body: (StateWord, inout Look) -> (Result, RecordPointer?)
) -> Result {
    let word = state.lock()
    look.place = RecordPointer(bitPattern: UInt(descent.pointee.place.peek()))
    let (result, head) = body(word, &look)
    descent.pointee.place.poke(UInt64(UInt(bitPattern: look.place)))
    state.unlock(word.phase, head)
    for _ in 0..<16 { vow_platform_relax() }
    return result
}

private func enter(_ descent: DescentPointer) {
    descentsLock.withLock {
        descent.pointee.next = firstDescent
        firstDescent?.pointee.previous = descent
        firstDescent = descent
    }
    _ = descentCount.addRelaxed(1)
}

private func leave(_ descent: DescentPointer) {
    _ = descentCount.addRelaxed(UInt64.max)
    descentsLock.withLock {
        let next = descent.pointee.next
        let previous = descent.pointee.previous
        next?.pointee.previous = previous
        if let previous { previous.pointee.next = next } else { firstDescent = next }
    }
}

/// A member is being taken out, under the lock of its promise. Nil: the looks that stand there begin anew.
@inline(__always)
func moveDescents(from member: RecordPointer, to before: RecordPointer?) {
    if descentCount.loadRelaxed() != 0 { moveAll(from: member, to: before) }
}

@inline(never)
private func moveAll(from member: RecordPointer, to before: RecordPointer?) {
    descentsLock.withLock {
        var descent = firstDescent
        while let current = descent {
            descent = current.pointee.next
            if current.pointee.place.peek() == UInt64(UInt(bitPattern: member)) {
                current.pointee.place.poke(UInt64(UInt(bitPattern: before)))
            }
        }
    }
}

/// Around a fork.
func lockDescents() { descentsLock.lock() }
func unlockDescents() { descentsLock.unlock() }

/// In a forked child, under the lock: they were other threads', whose stacks are gone.
func forgetDescents() {
    firstDescent = nil
    descentCount.storeRelaxed(0)
}
