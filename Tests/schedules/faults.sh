# The faults that `mutants` plants. Sourced by it.

fault claim-forgets-the-exchange State/Transitions.swift \
    '            if word.replaceAcquire(old.bits, new.bits).exchanged { return true }' \
    '            word.storeRelaxed(new.bits)
            return true'

fault claim-ignores-the-lock State/Transitions.swift \
    '            if old.phase != phase { return false }
            if old.isLocked {' \
    '            if old.phase != phase { return false }
            if false {'

fault enlist-ignores-the-lock State/Transitions.swift \
    '            if !phases.contains(old) { return old }
            if old.isLocked {' \
    '            if !phases.contains(old) { return old }
            if false {'

fault late-members-are-dropped Promise/Settle.swift \
    '    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }' \
    '    _ = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft)
    promise.releaseProducer(thread)'

fault order-is-reversed Promise/Settle.swift \
    'wake(current) } else { batch.prepend(current) }' \
    'wake(current) } else { batch.append(current) }'

fault inline-overtakes Promise/React.swift \
    'enlist(reaction, while: .ofInlineReactions)' \
    'enlist(reaction, while: .ofReactions)'

# What is behind the delivered ones stays in the queue.
fault delivery-ends-too-early State/Transitions.swift \
    'change { old in StateWord(old.head == nil ? .settled : .delivering, nil) }.head' \
    'change { old in StateWord(.settled, nil) }.head'

fault waiter-leaves-too-early Promise/Await.swift \
    '    while waiter.pointee.counts.loadAcquire() != Parking.done { pause.wait() }' \
    '    pause.wait()'

fault nudge-wakes-nobody Platform/Parking.swift \
    '        if found.exchanged { vow_platform_wake(address) }
        if found.original' \
    '        if found.original'

fault sleeper-misses-the-nudge Platform/Parking.swift \
    '    var found = word.replaceAcquire(Parking.awake, Parking.asleep).original' \
    '    var found = word.loadAcquire()
    if found != Parking.done { found = Parking.awake; word.storeRelaxed(Parking.asleep) }'

fault following-nudges-nobody Promise/Follow.swift \
    '            nudgeWaitingThreads()
' ''

fault watched-after-looking Promise/WaitingThreads.swift \
    '        if waiting.pointee.isWatched {
            _ = watchedCount.addOrdered(1)
            // Announced before the body looks ahead: one of the two sees the other.
            orderStoresBeforeLoads()
        }
' '' \
    Promise/WaitingThreads.swift \
    '        return body()' \
    '        let result = body()
        if waiting.pointee.isWatched { _ = watchedCount.addOrdered(1) }
        return result'

fault abandon-gives-back-early Promise/Follow.swift \
    '    promise.releaseProducer(thread)
}

/// Changes whom' \
    '    let followed = promise.upstream
    promise.releaseProducer(thread)
    followed?.release(thread)
}

/// Changes whom' \
    Promise/Reclaim.swift \
    '        if phase == .following { record.upstream?.release(thread) }
' ''

fault retain-after-unlock Promise/Path.swift \
    '        found.promise?.retain()
        pointee.state.unlock(word.phase, word.head)' \
    '        pointee.state.unlock(word.phase, word.head)
        found.promise?.retain()'

fault dies-though-held Promise/Follow.swift \
    'onlyFollowers && promise.pointee.counts.loadAcquire() == theirs' \
    'onlyFollowers && theirs != 0'

fault redirect-without-the-lock Promise/Follow.swift \
    '    let word = follower.pointee.state.lock()
    let before = follower.upstream
    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    before?.release(thread)' \
    '    let before = follower.upstream
    before?.release(thread)
    follower.upstream = followed'

fault last-resolver-by-an-old-reading Promise/Counting.swift \
    'let (exchanged, _) = pointee.counts.replaceAcquireRelease(counts, counts &- oneProducer)' \
    '_ = pointee.counts.subtractAcquireRelease(oneProducer)
            let exchanged = true'

fault value-counted-in-two-steps Promise/Counting.swift \
    '            if pointee.count.subtractAcquireRelease(1) != 1 { return }' \
    '            _ = pointee.count.subtractAcquireRelease(1)
            if pointee.count.loadAcquire() != 0 { return }'

fault submit-keeps-no-executor Executors/Submit.swift \
    '    executor.retain()
    let outer = thread' \
    '    let outer = thread' \
    Executors/Submit.swift \
    '    if executor.pointee.isSerial { nudgeWaitingThreads() }
    executor.release(thread)' \
    '    if executor.pointee.isSerial { nudgeWaitingThreads() }'

# Contexts of other reactions are destroyed between the handler's return and its result.
fault result-counts-too-late Promise/Run.swift \
    '        if let promise { finishDelivery(of: reaction, promise, thread) }
        complete(reaction, result, promise, thread)
    }' \
    '        if let promise { finishDelivery(of: reaction, promise, thread) }
    }
    complete(reaction, result, promise, thread)'

fault skipped-contexts-die-at-once Promise/Run.swift \
    '        thread.pointee.skipped.append(reaction)
    } else {' \
    '        skip(reaction, thread)
    } else {'

fault no-look-through-reactions Promise/Path.swift \
    '            waits = !further.pointee.state.read().hasValue
' ''

fault no-look-through-finally Promise/Path.swift \
    '            holdsOutcome = true
            waits = true' \
    '            holdsOutcome = true'

fault waiting-finally-is-a-follower Promise/Path.swift \
    'pointee.shape.contains(.finally) ? .waitsFor(upstream) : .follows(upstream)' \
    '.follows(upstream)'

# Not when the queue that it wanted to enter was shut meanwhile, and the path goes on.
fault looks-beyond-the-end-once Promise/Follow.swift \
    '    while true {
        guard let end = endOfPath(from: follower, thread) else {' \
    '    var isFirst = true
    while true {
        guard let end = endOfPath(from: follower, thread) else {' \
    Promise/Follow.swift \
    '        if end.waits && mayCloseRing(follower)' \
    '        defer { isFirst = false }
        if isFirst && end.waits && mayCloseRing(follower)'

# Not those who came since it published whom it follows.
fault asks-once-who-waits Promise/Follow.swift \
    '    while true {
        guard let end = endOfPath(from: follower, thread) else {' \
    '    let wasAwaited = mayCloseRing(follower)
    while true {
        guard let end = endOfPath(from: follower, thread) else {' \
    Promise/Follow.swift \
    '        if end.waits && mayCloseRing(follower)' \
    '        if end.waits && wasAwaited'

fault look-ahead-goes-round Promise/LookAhead.swift \
    '        if isTooLate || watch.hasSeen(current, thread) {' \
    '        if isTooLate {'
