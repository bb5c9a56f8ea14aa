# The faults that `mutants` plants. Sourced by it.

fault claim-forgets-the-exchange Records/Transitions.swift \
    '            if word.replaceAcquire(old.bits, new.bits).exchanged { return true }' \
    '            word.storeRelaxed(new.bits)
            return true'

fault claim-ignores-the-lock Records/Transitions.swift \
    '            if old.phase != phase { return false }
            if old.isLocked {' \
    '            if old.phase != phase { return false }
            if false {'

fault enlist-ignores-the-lock Records/Transitions.swift \
    '            if !phases.contains(old) { return old }
            if old.isLocked {' \
    '            if !phases.contains(old) { return old }
            if false {'

fault late-members-are-dropped Settling/HandOver.swift \
    '    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }' \
    '    _ = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft)
    promise.releaseProducer(thread)'

fault order-is-reversed Settling/HandOver.swift \
    '                inline.prepend(current)
            } else {
                batch.prepend(current)' \
    '                inline.append(current)
            } else {
                batch.append(current)'

fault inline-overtakes Reactions/React.swift \
    'enlist(reaction, while: .ofInlineReactions)' \
    'enlist(reaction, while: .ofReactions)'

# What is behind the delivered ones stays in the queue.
fault delivery-ends-too-early Records/Transitions.swift \
    'StateWord(old.head == nil ? .settled : .delivering, nil)' \
    'StateWord(.settled, nil)'

fault waiter-leaves-too-early Waiting/Await.swift \
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

fault following-nudges-nobody Settling/Following/Follow.swift \
    '            nudgeWaitingThreads(past: bit)
' ''

fault watched-after-looking Thread/WaitingThreads.swift \
    '        if waiting.pointee.isWatched {
            _ = watchedCount.addOrdered(1)
            if waiting.pointee.blocks != 0 { _ = blockingCount.addOrdered(1) }
            // Announced before the body looks ahead: one of the two sees the other.
            orderStoresBeforeLoads()
        }
' '' \
    Thread/WaitingThreads.swift \
    '        return body(waiting)' \
    '        let result = body(waiting)
        if waiting.pointee.isWatched { _ = watchedCount.addOrdered(1) }
        return result'

# A second look comes another way than the first.
fault way-is-not-forgotten Thread/WaitingThreads.swift \
    '        _ = waiting.pointee.way.exchangeAcquireRelease(allPromises)
' ''

# Whoever walks past it goes on to what it followed.
fault abandon-gives-back-early Settling/Following/Yield.swift \
    '    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    promise.releaseProducer(thread)' \
    '    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    let followed = promise.upstream
    promise.releaseProducer(thread)
    followed?.release(thread)' \
    Settling/Free.swift \
    '        if phase == .following { record.upstream?.release(thread) }
' ''

fault retain-after-unlock Settling/Following/Path.swift \
    '        found.promise?.visit()
        pointee.state.unlock(word.phase, word.head)' \
    '        pointee.state.unlock(word.phase, word.head)
        found.promise?.visit()'

fault idle-observer-is-locked Settling/Observe.swift \
    '        guard let word = pointee.state.lock(whileIn: .open) else { return .nothing }
        let promise = upstream
        promise?.visit()
        pointee.state.unlock(.open, word.head)' \
    '        let word = pointee.state.lock()
        let promise = word.phase == .open ? upstream : nil
        promise?.visit()
        pointee.state.unlock(word.phase, word.head)'

fault scope-is-held-from-nothing Combinators/ScopeCancel.swift \
    '    if !scope.pointee.holds.addOneUnlessZero() {' \
    '    if scope.pointee.holds.addRelaxed(1) > 1000 {'

fault member-is-added-to-nothing Combinators/ScopeMembers.swift \
    '        if !scope.pointee.holds.addOneUnlessZero() { return Entry.ended }' \
    '        _ = scope.pointee.holds.addRelaxed(1)'

fault scope-is-closed-by-all Combinators/Scope.swift \
    '    if scope.pointee.closed.exchangeAcquireRelease(1) == 0 {' \
    '    if scope.pointee.closed.exchangeAcquireRelease(0) == 0 {'

fault dies-though-held Settling/Following/Yield.swift \
    '        && promise.nowCounts.isRead(by: followers, besides: besides)
' ''

fault passes-on-in-its-queue Settling/Following/Follow.swift \
    '        _ = takeOut(promise, thread)
        guard' \
    '        guard'

fault passes-on-unclaimed Settling/Following/Follow.swift \
    'unlock(passes ? .claimed : word.phase, word.head)' \
    'unlock(word.phase, word.head)'

fault redirect-without-the-lock Settling/Following/Redirect.swift \
    '    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }
    leaveBehind(before, thread)' \
    '    follower.pointee.state.unlock(word.phase, word.head)
    if !stands { leaveBehind(before, thread) }
    follower.upstream = followed
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }'

fault progress-two-at-a-time Combinators/Progress.swift \
    'if !listener.pointee.hasNews || listener.pointee.isDelivering { return }' \
    'if !listener.pointee.hasNews { return }'

fault progress-tells-a-settled-one Combinators/Progress.swift \
    '            guard let promise = listener.pointee.promise,
                !promise.pointee.state.read().hasValue, listener.pointee.timeLeft(at: now) == 0
            else { return }' \
    '            guard listener.pointee.timeLeft(at: now) == 0 else { return }'

fault progress-news-is-lost Combinators/Progress.swift \
    '            next = beginDelivery(listener)
            wait = listener' \
    '            wait = listener'

fault progress-delivery-has-no-hold Combinators/Progress.swift \
    '    listener.pointee.hasRun = false
    listener.pointee.holds += 1
' \
    '    listener.pointee.hasRun = false
'

fault last-resolver-by-an-old-reading Settling/BrokenResolver.swift \
    '            if pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
                if rest' \
    '            _ = pointee.counts.subtractAcquireRelease(Counts.oneProducer)
            if true {
                if rest'

fault value-counted-in-two-steps Lifetime/Counting.swift \
    '            if pointee.count.subtractAcquireRelease(1) != 1 { return }' \
    '            _ = pointee.count.subtractAcquireRelease(1)
            if pointee.count.loadAcquire() != 0 { return }'

fault submit-keeps-no-executor Executors/Submit.swift \
    '    executor.retain()
    let outer = thread' \
    '    let outer = thread' \
    Executors/Submit.swift \
    '    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }
    executor.release(thread)' \
    '    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }'

# Contexts of other reactions are destroyed between the handler's return and its result.
fault result-counts-too-late Reactions/RunInline.swift \
    '    let delivery = reaction.takeDelivery()
    if result.kind' \
    '    if let promise { asOneStep(thread) { finishDelivery(of: reaction, promise, thread) } }
    let delivery = reaction.takeDelivery()
    if result.kind'

fault skipped-contexts-die-at-once Settling/PassThrough.swift \
    '        thread.pointee.agenda.skipped.append(reaction)
    } else {' \
    '        skip(reaction, thread)
    } else {'

fault no-look-through-reactions Settling/Following/Path.swift \
    '            waits = !further.pointee.state.read().hasValue
' ''

fault no-look-through-finally Settling/Following/Path.swift \
    '            further.endVisit(thread)
            holdsOutcome = true
            waits = true' \
    '            further.endVisit(thread)
            holdsOutcome = true'

fault waiting-finally-is-a-follower Settling/Following/Path.swift \
    'standsBetween ? .waitsFor(upstream) : .follows(upstream)' \
    '.follows(upstream)'

# Two that close a ring from both ends may both look before either has entered.
fault looks-below-before-entering Settling/Following/Follow.swift \
    '        guard let obstacle = enter(end, follower) else {' \
    '        let mayBeRing =
            end.waits && lookBelow(follower, for: end.promise, thread) == .perhaps
        guard let obstacle = enter(end, follower) else {' \
    Settling/Following/Follow.swift \
    'endEntering(follower, isCancelled, waits: end.waits, thread)' \
    'endEntering(follower, isCancelled, waits: mayBeRing, thread)'

# As if those who are too many did not wait.
fault looks-at-few-below Settling/Following/LookBelow.swift \
    '                if waiting == wanted || last == end {' \
    '                if last == end {
                } else if waiting == wanted {'

fault look-ahead-goes-round Waiting/LookAhead.swift \
    '        if isTooLate || watch.hasSeen(current, thread) {' \
    '        if isTooLate {'

# Cancelling.

fault cancel-does-not-wait Settling/Cancelling/CancelReaction.swift \
    '        if unlink(member, outOf: promise.pointee.state) { return true }
        if takeOwnOutcome(thread) { continue }' \
    '        return unlink(member, outOf: promise.pointee.state)'

fault markout-forgotten-in-batch Settling/HandOver.swift \
    '            current.markOut()
            if !current.handles' \
    '            if !current.handles'

fault markout-before-next-is-read Settling/HandOver.swift \
    '        member = current.next
        if current.pointee.shape.isWaiter {' \
    '        if current.pointee.shape.isReaction && !current.pointee.flags.contains(RecordFlag.follows) {
            current.markOut()
        }
        member = current.next
        if current.pointee.shape.isWaiter {'

fault follower-marked-out-before-its-claim Settling/Following/Follow.swift \
    'func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
' \
    'func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
    follower.markOut()
'

fault settled-follower-not-marked-out Settling/Following/Follow.swift \
    '            settleWithOutcome(follower, thread)
        }
    } else {
        follower.markOut()
    }' \
    '            settleWithOutcome(follower, thread)
        }
    }'

fault redirected-follower-not-marked-out Settling/Following/Redirect.swift \
    '        follower.markOut()
        if isVisit' \
    '        if isVisit'

fault arrived-follower-not-marked-out Settling/Following/Redirect.swift \
    '    if isMine { return .isDone }
    follower.markOut()' \
    '    if isMine { return .isDone }'

fault unlink-leaves-the-neighbours-lane Records/Unlink.swift \
    '    if let after, after.hasWayBack { after.wayBack = before ?? top }
' ''

fault descent-keeps-its-place Records/Unlink.swift \
    '    moveDescents(from: member, to: before)
' ''

fault descent-is-not-counted Records/Descent.swift \
    '    _ = descentCount.addRelaxed(1)
' '' \
    Records/Descent.swift \
    '    _ = descentCount.addRelaxed(UInt64.max)
' ''

fault taken-followers-keep-their-way-back Records/HandlerQueue.swift \
    '        member.unmark()
        member.next = first' \
    '        member.next = first'

fault taken-followers-keep-their-lane Settling/Following/Yield.swift \
    '            follower.forgetPlace()
            follower.visit()' \
    '            follower.visit()'

fault late-members-by-their-lane Records/Unlink.swift \
    '    if word.hasValue {
        let rest' \
    '    if word.hasValue && member.wayBack == nil {
        let rest'

fault redirect-ignores-the-phase Settling/Following/Redirect.swift \
    'guard word.phase == .following, let before' \
    'guard let before'

# Whoever has it may look as soon as it is cancelled.
fault withdrawn-after-the-step Settling/Cancelling/CancelReaction.swift \
    '    reaction.pointee.flags.insert(RecordFlag.dropped)
    reaction.errorToCome = error.retained()
    reaction.retainProducer()
    reaction.pointee.state.transitionToCancelled()' \
    '    reaction.errorToCome = error.retained()
    reaction.retainProducer()
    reaction.pointee.state.transitionToCancelled()
    reaction.pointee.flags.insert(RecordFlag.dropped)'

fault withdrawn-reaction-blocks-delivery Settling/PassThrough.swift \
    '            finishDelivery(of: reaction, promise, thread)
            promise.release(thread)' \
    '            promise.release(thread)'

# With a step between, because a thread is interrupted only before one.
fault begin-reads-after-the-step Settling/PassThrough.swift \
    '        let promise = reaction.upstream
        reaction.pointee.state.unlock(.running, word.head)' \
    '        reaction.pointee.state.unlock(.running, word.head)
        _ = reaction.pointee.state.read()
        let promise = reaction.upstream'

fault withdrawn-reaction-hides-its-promise Settling/HandOver.swift \
    'isWithdrawn ? reaction.withdrawnUpstream : reaction.upstream' \
    'reaction.upstream'

fault abandoned-is-not-out Settling/Following/Yield.swift \
    '    if isFollowing { promise.beginOut() }
' ''

fault abandoned-though-cancelled Settling/Following/Yield.swift \
    '    } else {
        promise.markOut()
    }' \
    '    } else {
        promise.markOut()
        promise.releaseProducer(thread)
    }'

fault cancelled-owns-no-producer Settling/Cancelling/CancelReaction.swift \
    '    if follower.isOut { follower.retainProducer() }
' ''

fault ring-may-lose-its-follower Settling/Following/Rings.swift \
    '    if isRing { follower.visit() }
    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)' \
    '    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)
    follower.visit()'

fault moving-may-lose-its-followers Settling/Following/Yield.swift \
    '            follower.visit()
            list.prepend' \
    '            list.prepend' \
    Settling/Following/Yield.swift \
    '        follower.endVisit(thread)
    }
    followed' \
    '    }
    followed' \
    Settling/Following/Yield.swift \
    'takeFollowers(of: follower, besides: Counts.oneVisitor)' \
    'takeFollowers(of: follower, besides: 0)' \
    Settling/Following/Yield.swift \
    'isUnreadable(follower, besides: Counts.oneVisitor)' \
    'isUnreadable(follower, besides: 0)'

fault cancelled-follower-adopts-nothing Settling/Cancelling/CancelReaction.swift \
    '    promise?.pointee.isObserved.set()
' ''

# What is cancelled waits for what it has begun.

fault walk-counts-as-a-reader Settling/Following/Follow.swift \
    '        switch redirect(follower, to: end.promise, isVisit: true, thread) {' \
    '        end.promise.retain()
        let redirection = redirect(follower, to: end.promise, isVisit: true, thread)
        end.promise.release(thread)
        switch redirection {'

fault leaves-in-two-steps Records/Counts.swift \
    '        exchangeReference(by: Counts.oneVisitor &- Counts.oneReader, unlessReadersAre: 1)' \
    '        if nowCounts.readers == 1 { return false }
        _ = pointee.counts.addRelaxed(Counts.oneVisitor &- Counts.oneReader)
        return true'

fault redirected-follower-is-not-on-the-way Settling/Following/Redirect.swift \
    '        follower.isOnTheWay = true
' ''

fault enters-what-its-followers-have-left Settling/Following/Follow.swift \
    'if word.hasValue || word.phase == .following && promise.hasYielded {' \
    'if word.hasValue {'

fault stays-though-unread Records/Counts.swift \
    'unlessReadersAre: 0' \
    'unlessReadersAre: .max'

fault inherits-though-visited Settling/Following/Redirect.swift \
    'before.isOnlyMine &&' \
    'before.nowCounts.readers == 1 && before.nowCounts.producers == 0 &&'

# Interest.

fault interest-without-a-reference Settling/Interest.swift \
    'let rest = counts.bits &- Counts.oneReader &+ (isLast ? Counts.oneProducer : 0)' \
    'let rest = counts.bits &- Counts.oneReader' \
    Settling/Interest.swift \
    '.exchanged {
            return isLast' \
    '.exchanged {
            if isLast { promise.retainProducer() }
            return isLast'

fault interest-by-plain-subtraction Settling/Interest.swift \
    '        let rest = counts.bits &- Counts.oneReader &+ (isLast ? Counts.oneProducer : 0)
        if promise.pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
            return isLast
        }' \
    '        if isLast { promise.retainProducer() }
        _ = promise.pointee.counts.subtractAcquireRelease(Counts.oneReader)
        return isLast'

fault interest-ends-with-the-last-release Lifetime/Counting.swift \
    '        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }' \
    '        giveBack(Counts.oneReader, thread)'

fault hook-added-without-asking-who-reads Settling/Cancelling/Hooks.swift \
    '    if isOpen && !isUnread {' \
    '    if isOpen {'

fault hooks-are-called-twice Settling/Interest.swift \
    '        promise.hooks = nil
        promise.pointee.state.unlock' \
    '        promise.pointee.state.unlock'

fault unread-follower-follows Settling/Following/Follow.swift \
    'if promise.nowCounts.isUnread && !promise' \
    'if false && !promise'

# Tokens.

fault token-retains-after-unlock Settling/Cancelling/Token.swift \
    '                entry.reaction.retainProducer()
                return .promise(entry.reaction)' \
    '                return .promise(entry.reaction)' \
    Settling/Cancelling/Token.swift \
    '            cancelAlone(promise, rejection.value, thread)
        }
        promise.releaseProducer(thread)' \
    '            promise.retainProducer()
            cancelAlone(promise, rejection.value, thread)
            promise.releaseProducer(thread)
        }'

fault token-link-retains-after-unlock Settling/Cancelling/Token.swift \
    'if child.retainTokenUnlessEnding() { return .source(child) }' \
    'return .source(child)' \
    Settling/Cancelling/Token.swift \
    '    case .source(let child):
' \
    '    case .source(let child):
        child.retainToken()
'

fault token-entered-without-looking Settling/Cancelling/Token.swift \
    '    let rejection = source.pointee.lock.withLock {
        if let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(reaction.registration)' \
    '    let isCancelled = source.pointee.isCancelled.isSet
    let rejection = source.pointee.lock.withLock {
        if isCancelled, let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(reaction.registration)'

fault token-revives-an-ending-source Settling/Cancelling/Source.swift \
    'while counts >= oneToken {' \
    'while true {'

fault hook-of-a-token-without-source Settling/Cancelling/Hooks.swift \
    'if source.pointee.rejection != nil || !source.canBeCancelled { return false }' \
    'if source.pointee.rejection != nil { return false }'

fault linked-source-ends-with-its-handle Settling/Cancelling/Source.swift \
    '            _ = link.pointee.child.pointee.cancellers.addRelaxed(1)
' ''

fault parents-end-and-tell-nobody Settling/Cancelling/Source.swift \
    'if child.giveCancellerBack() {' \
    'if false {'

# Leaving.

fault what-has-left-is-called Records/Hook.swift \
    'pointee.stage.replaceAcquire(HookStage.waiting, HookStage.running).exchanged' \
    'pointee.stage.exchangeAcquireRelease(HookStage.running) < 4'

fault leaver-looks-at-a-dead-promise Settling/Cancelling/Registrations.swift \
    '        if hook.pointee.registration.isListed {' \
    '        if false {'

fault leaver-takes-what-is-taken Settling/Cancelling/Registrations.swift \
    'if word.phase != .open || promise.hooks == nil { return false }' \
    'if promise.hooks == nil { return false }'

fault left-hook-stays-listed Settling/Cancelling/Registrations.swift \
    '    if hook.giveUp() && takeOut(hook) {' \
    '    if hook.giveUp() {'

# What is done in one step because nobody else is there.

# With a step between, as above.
fault runner-reads-the-slot Reactions/RunInline.swift \
    '    let promise = reaction.source
    let input' \
    '    _ = reaction.pointee.state.read()
    let promise = reaction.upstream
    let input'

# Of one that has a token, and of one that its executor has, the promise is read there.
fault error-covers-the-promise Settling/Cancelling/CancelReaction.swift \
    'if reaction.isBegunByRunning || reaction.upstream == nil {' \
    'if true {'

fault way-ends-at-a-combined-promise Settling/Following/Path.swift \
    'waits = current.needsEach != nil' \
    'waits = false'

fault scope-shows-no-members Combinators/ScopeMembers.swift \
    'if place == mostLookedAt || isForkedChild { return .noMore }' \
    'if place <= mostLookedAt || isForkedChild { return .noMore }'

fault running-handlers-wait-unseen Waiting/LookAhead.swift \
    'if word.phase == .running || word.phase == .cancelled,
        let awaited' \
    'if word.phase == .settled,
        let awaited'

fault held-executors-are-unseen Waiting/LookAhead.swift \
    'guard let awaited = promiseAwaited(blocking: executor) else { return .blocked }' \
    'guard let awaited = promiseAwaited(blocking: executor), false else { return .blocked }'

fault outcome-on-its-way-is-forgotten Waiting/LookAhead.swift \
    'return settled > heard && !view.needsEach ? .blocked : found' \
    'return found'

fault undecided-member-tells-nobody Combinators/Group.swift \
    '    nudgeWaitingThreads(past: bit(of: group.promise))
    letGo(of: group, 1, thread)' \
    '    letGo(of: group, 1, thread)'

fault breaking-is-noted-on-the-first-look Settling/BrokenResolver.swift \
    '        while true {
            let counts = nowCounts
            if counts.producers == 1 && counts.readers != 0 {
                // No other producer is left, and none can come: whoever finds it settled knows that nobody resolved it.
                pointee.flags.insert(RecordFlag.dropped)' \
    '        if nowCounts.producers == 1 { pointee.flags.insert(RecordFlag.dropped) }
        while true {
            let counts = nowCounts
            if counts.producers == 1 && counts.readers != 0 {'

fault ends-before-the-canceller-is-through Settling/Cancelling/EndCancelled.swift \
    '    while !reaction.pointee.state.transitionToClaimed(from: .cancelled) {' \
    '    if !reaction.pointee.state.transitionToClaimed(from: .cancelled) {'

# A cancelled one is settled once more.
fault unseen-though-cancelled Settling/SettleOne.swift \
    '        if reaction.pointee.state.read().phase != .open { return false }
        reaction.value = value' \
    '        reaction.value = value'

fault begun-though-cancelled Settling/PassThrough.swift \
    '    if reaction.isUnseen && reaction.pointee.state.read().phase == .open {' \
    '    if reaction.isUnseen {'

# What ends after it was cancelled, and with what (G14, G15).

fault clean-up-is-skipped Settling/Cancelling/CancelReaction.swift \
    'if !reaction.isInline && (!reaction.mayRunCancelled || !canRun) {' \
    'if !reaction.isInline {'

fault clean-up-does-not-see-the-value Settling/PassThrough.swift \
    'if let cancellation, promise == nil || !reaction.pointee.shape.contains(.finally) {' \
    'if let cancellation {'

fault context-dies-before-what-was-returned Reactions/Run.swift \
    '        if !reaction.pointee.flags.contains(RecordFlag.isHoused) { return }
' ''

fault settled-before-the-handler-returned Settling/Cancelling/Cancel.swift \
    '            promise.errorToCome = error.retained()
            promise.pointee.state.unlock(.cancelled, word.head)
            return true' \
    '            settleLocked(promise, word, error.retained(), ownsProducer: false, thread)
            return true'

fault settled-before-its-context-is-destroyed Settling/Cancelling/CancelReaction.swift \
    '    if reaction.hasContextToDestroy {' \
    '    if false {'

fault moved-follower-is-not-cancelled Settling/Following/Follow.swift \
    '        let isCancelled = follower.isCancelled
' \
    '        let isCancelled = false
'

fault late-member-is-withdrawn-in-its-queue Settling/Cancelling/CancelReaction.swift \
    'if let promise = reaction.upstream, takeOut(reaction, thread) {' \
    'if let promise = reaction.upstream, !promise.pointee.state.read().hasValue, takeOut(reaction, thread) {'

fault cancelled-follower-takes-the-value Settling/Following/Follow.swift \
    'if promise.pointee.flags.contains(RecordFlag.cancelled) && !value' \
    'if false && !value'

fault returned-promise-is-not-cancelled Settling/Cancelling/EndCancelled.swift \
    '    giveUpFollowed(by: reaction, error, thread)
' ''

fault cancelled-map-leaves-its-calls Combinators/Machine.swift \
    'makeProduced(producer, isQuiet: true, thread)' \
    'makeProduced(producer, isQuiet: false, thread)'

fault unseen-without-looking Settling/SettleOne.swift \
    'nowCounts.isOneProducers() && !pointee' \
    '!pointee'

# Not whether somebody else has a producer's reference, as who has just lost the last reader's.
fault unseen-by-readers-alone Settling/SettleOne.swift \
    'nowCounts.isOneProducers() && !pointee' \
    'nowCounts.isUnread && !pointee'

fault second-member-is-lost Settling/Settle.swift \
    'if let only = word.head, only.isClearlyLast,' \
    'if let only = word.head,'

fault second-member-of-a-link-is-lost Settling/SettleOne.swift \
    'if !only.isClearlyLast || !only.isInlineReader(ofRejection: false) {' \
    'if !only.isInlineReader(ofRejection: false) {'

# Late ones run without waiting for the one that is on its way.
fault only-member-leaves-it-settled Settling/SettleOne.swift \
    '    promise.pointee.state.unlock(.delivering, nil)' \
    '    promise.pointee.state.unlock(.settled, nil)'

fault only-member-is-not-marked-out Settling/SettleOne.swift \
    '    only.markOut()
    only.passage = ownsProducer' \
    '    only.passage = ownsProducer'

fault only-follower-keeps-the-producer Settling/SettleOne.swift \
    '        asOneStep(thread) { thread.pointee.agenda.outcomes.append(only) }
        if ownsProducer { promise.releaseProducer(thread) }' \
    '        asOneStep(thread) { thread.pointee.agenda.outcomes.append(only) }'

fault delivery-ends-though-others-read Settling/Delivery.swift \
    '            reclaim(promise, thread)
            return
        }
        deliveringLateOnes()' \
    '            reclaim(promise, thread)
            return
        }
        promise.pointee.state.close()'

# Another resolver is still to be given back.
fault delivery-ends-for-its-readers-alone Settling/Delivery.swift \
    'if promise.pointee.counts.loadAcquire() == mine {' \
    'if promise.nowCounts.readers == Counts(bits: mine).readers {'

fault owed-reads-are-forgotten Settling/Delivery.swift \
    'mine &+= thread.pointee.owedReads.take(of: promise)' \
    '_ = thread.pointee.owedReads.take(of: promise)'

fault owed-reads-are-given-back-twice Thread/OwedReads.swift \
    '        self.promise = nil
        return count' \
    '        return count'

fault wait-forgets-owed-reads Settling/Delivery.swift \
    '            if owed > 0 { promise.giveBack(owed, thread) }' \
    '            _ = owed'

fault runs-are-not-given-back Executors/Place.swift \
    '    executor.release(place.runs, thread)
' ''

fault run-at-once-while-others-wait Reactions/React.swift \
    'pointee.state.read().phase == .settled && !shape.contains(.finally)' \
    'pointee.state.read().hasValue && !shape.contains(.finally)'

# Which scenarios find them first: tried before all others, which only saves time.
declare -A likely=(
    [waiter-leaves-too-early]="two-await-time-out"
    [nudge-wakes-nobody]="deadlock-by-work"
    [following-nudges-nobody]="deadlock-by-work"
    [retain-after-unlock]="walk-past-dying"
    [last-resolver-by-an-old-reading]="last-resolver-promise"
    [value-counted-in-two-steps]="value-release"
    [submit-keeps-no-executor]="executor-release"
    [no-look-through-reactions]="ring-through-reactions"
    [no-look-through-finally]="ring-through-finally-and-reaction"
    [waiting-finally-is-a-follower]="ring-through-finally adopt-waiting-finally"
    [looks-below-before-entering]="ring-through-reactions"
    [looks-at-few-below]="ring-through-reactions"
    [look-ahead-goes-round]="ring-awaited ring-awaited-inside"
    [way-is-not-forgotten]="deadlock-by-two-followings"
    [idle-observer-is-locked]=machine-looked-through
    [scope-is-held-from-nothing]=scope-end-cancelled
    [member-is-added-to-nothing]=scope-added-to
    [scope-is-closed-by-all]=scope-closed-twice
    [cancel-does-not-wait]="cancel-inline-reaction"
    [markout-forgotten-in-batch]="cancel-handed-over"
    [markout-before-next-is-read]="cancel-inline-reaction cancel-handed-over cancel-first-of-batch two-register-settle"
    [follower-marked-out-before-its-claim]="cancel-follower"
    [settled-follower-not-marked-out]="cancel-follower"
    [redirected-follower-not-marked-out]="cancel-adopting cancel-moving"
    [unlink-leaves-the-neighbours-lane]="cancel-neighbours"
    [descent-keeps-its-place]="descent-place descent-link"
    [descent-is-not-counted]="descent-place descent-link"
    [taken-followers-keep-their-way-back]="descent-settled"
    [taken-followers-keep-their-lane]="cancel-sibling-moving"
    [late-members-by-their-lane]="cancel-delivering"
    [redirect-ignores-the-phase]="cancel-adopting cancel-moving"
    [withdrawn-after-the-step]="cancel-withdrawn cancel-withdrawn-on-its-way"
    [withdrawn-reaction-blocks-delivery]="cancel-withdrawn-on-its-way cancel-withdrawn"
    [begin-reads-after-the-step]="cancel-running cancel-running-twice cancel-inline-reaction token-running"
    [withdrawn-reaction-hides-its-promise]="cancel-withdrawn-on-its-way"
    [abandoned-is-not-out]="cancel-moving"
    [abandoned-though-cancelled]="token-shared"
    [cancelled-owns-no-producer]="cancel-moving cancel-while-dying"
    [ring-may-lose-its-follower]="cancel-ring-unheld"
    [moving-may-lose-its-followers]="cancel-moving-ring"
    [arrived-follower-not-marked-out]="cancel-moved-by-hand release-moved cancel-moving"
    [walk-counts-as-a-reader]="cancel-attaching"
    [leaves-in-two-steps]="cancel-both-followers cancel-both-readers"
    [redirected-follower-is-not-on-the-way]="cancel-moved-by-hand cancel-moved"
    [enters-what-its-followers-have-left]="stand-with-dying"
    [stays-though-unread]="walk-past-dying walk-behind-dying stand-with-dying two-die"
    [inherits-though-visited]="walk-past-dying walk-behind-dying two-die"
    [cancelled-follower-adopts-nothing]="ring-released"
    [interest-without-a-reference]="release-or-broken release-follower hook-last-resolver"
    [interest-by-plain-subtraction]="release-two-readers release-cancel"
    [interest-ends-with-the-last-release]="hook-release"
    [hook-added-without-asking-who-reads]="hook-release"
    [hooks-are-called-twice]="hook-release"
    [unread-follower-follows]="release-adopting"
    [token-retains-after-unlock]="token-settle-unheld"
    [token-link-retains-after-unlock]="linked-unused"
    [token-entered-without-looking]="token-register"
    [token-revives-an-ending-source]="linked-token-released"
    [hook-of-a-token-without-source]="token-hook-release"
    [linked-source-ends-with-its-handle]="linked-released"
    [parents-end-and-tell-nobody]="linked-orphan"
    [what-has-left-is-called]="leave-token"
    [leaver-looks-at-a-dead-promise]="leave-resolved"
    [leaver-takes-what-is-taken]="leave-resolved leave-resolver"
    [left-hook-stays-listed]="leave-token"
    [abandon-gives-back-early]="walk-past-dying walk-behind-dying"
    [watched-after-looking]="deadlock-by-following"
    [passes-on-in-its-queue]="held-while-dying"
    [passes-on-unclaimed]="held-while-dying"
    [dies-though-held]="held-while-dying walk-past-dying"
    [order-is-reversed]="two-register-settle"
    [progress-two-at-a-time]="progress-twice"
    [progress-tells-a-settled-one]="progress-serial"
    [progress-news-is-lost]="progress-twice"
    [progress-delivery-has-no-hold]="progress-release progress-twice"
    [redirect-without-the-lock]="walk-past-dying walk-behind-dying two-die"
    [result-counts-too-late]="result-before-context"
    [skipped-contexts-die-at-once]="late-before-context"
    [runner-reads-the-slot]="cancel-inline-reaction"
    [error-covers-the-promise]="cancel-handed-over cancel-running"
    [way-ends-at-a-combined-promise]="ring-through-all"
    [scope-shows-no-members]="ring-through-scopes"
    [running-handlers-wait-unseen]="crossed-results"
    [held-executors-are-unseen]="crossed-waits"
    [outcome-on-its-way-is-forgotten]="rival-resolved"
    [undecided-member-tells-nobody]="rival-rejected"
    [breaking-is-noted-on-the-first-look]="hook-last-resolver"
    [ends-before-the-canceller-is-through]="cancel-inline-reaction"
    [unseen-though-cancelled]="cancel-released"
    [begun-though-cancelled]="cancel-released-running"
    [clean-up-is-skipped]="cancel-clean-up-elsewhere"
    [clean-up-does-not-see-the-value]="cancel-clean-up"
    [context-dies-before-what-was-returned]="kept-context"
    [settled-before-the-handler-returned]="cancel-running"
    [settled-before-its-context-is-destroyed]="cancel-withdrawn"
    [moved-follower-is-not-cancelled]="resolver-released-meanwhile"
    [late-member-is-withdrawn-in-its-queue]="cancel-late-member"
    [cancelled-follower-takes-the-value]="cancel-follower"
    [returned-promise-is-not-cancelled]="cancel-returning"
    [cancelled-map-leaves-its-calls]="cancel-map"
    [unseen-without-looking]="link-two-readers"
    [unseen-by-readers-alone]="release-follower-of-link"
    [second-member-is-lost]="two-register-settle"
    [second-member-of-a-link-is-lost]="link-two-readers"
    [only-member-leaves-it-settled]="only-member"
    [only-member-is-not-marked-out]="cancel-inline-reaction"
    [only-follower-keeps-the-producer]="release-follower-of-link"
    [delivery-ends-though-others-read]="only-member"
    [delivery-ends-for-its-readers-alone]="last-reader"
    [owed-reads-are-forgotten]="first-of-two-waits"
    [owed-reads-are-given-back-twice]="put-off put-off-twice"
    [wait-forgets-owed-reads]="second-of-two-waits"
    [runs-are-not-given-back]="executor-release"
    [run-at-once-while-others-wait]="then-at-once"
)
