# Faults of cancelling: taking members out of queues, and ends that are cancelled. Sourced by `mutants`.

fault cancel-does-not-wait CancelReaction.swift \
    '        if unlink(member, outOf: promise.pointee.state) { return true }
        if takeOwnOutcome(thread) { continue }' \
    '        return unlink(member, outOf: promise.pointee.state)'

fault markout-forgotten-in-batch HandOver.swift \
    '            current.markOut()
            if !current.handles' \
    '            if !current.handles'

fault markout-before-next-is-read HandOver.swift \
    '        member = current.next
        if current.pointee.shape.isWaiter {' \
    '        if current.pointee.shape.isReaction && !current.pointee.flags.contains(RecordFlag.follows) {
            current.markOut()
        }
        member = current.next
        if current.pointee.shape.isWaiter {'

fault follower-marked-out-before-its-claim Follow.swift \
    'func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
' \
    'func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
    follower.markOut()
'

fault settled-follower-not-marked-out Follow.swift \
    '            settleWithOutcome(follower, thread)
        }
    } else {
        follower.markOut()
    }' \
    '            settleWithOutcome(follower, thread)
        }
    }'

fault redirected-follower-not-marked-out Redirect.swift \
    '        follower.markOut()
        if isVisit' \
    '        if isVisit'

fault arrived-follower-not-marked-out Redirect.swift \
    '    if isMine { return .isDone }
    follower.markOut()' \
    '    if isMine { return .isDone }'

fault unlink-leaves-the-neighbours-lane Unlink.swift \
    '    if let after, after.hasWayBack { after.wayBack = before ?? top }
' ''

fault descent-keeps-its-place Unlink.swift \
    '    moveDescents(from: member, to: before)
' ''

fault descent-is-not-counted Descent.swift \
    '    _ = descentCount.addRelaxed(1)
' '' \
    Descent.swift \
    '    _ = descentCount.addRelaxed(UInt64.max)
' ''

fault taken-followers-keep-their-way-back HandlerQueue.swift \
    '        member.unmark()
        member.next = first' \
    '        member.next = first'

fault taken-followers-keep-their-lane Yield.swift \
    '            follower.forgetPlace()
            follower.visit()' \
    '            follower.visit()'

fault late-members-by-their-lane Unlink.swift \
    '    if word.hasValue {
        let rest' \
    '    if word.hasValue && member.wayBack == nil {
        let rest'

fault redirect-ignores-the-phase Redirect.swift \
    'guard word.phase == .following, let before' \
    'guard let before'

# Whoever has it may look as soon as it is cancelled.
fault withdrawn-after-the-step CancelReaction.swift \
    '    reaction.pointee.flags.insert(RecordFlag.dropped)
    reaction.errorToCome = error.retained()
    reaction.retainProducer()
    reaction.pointee.state.transitionToCancelled()' \
    '    reaction.errorToCome = error.retained()
    reaction.retainProducer()
    reaction.pointee.state.transitionToCancelled()
    reaction.pointee.flags.insert(RecordFlag.dropped)'

fault withdrawn-reaction-blocks-delivery PassThrough.swift \
    '            finishDelivery(of: reaction, promise, thread)
            promise.release(thread)' \
    '            promise.release(thread)'

# With a step between, because a thread is interrupted only before one.
fault begin-reads-after-the-step PassThrough.swift \
    '        let promise = reaction.upstream
        reaction.pointee.state.unlock(.running, word.head)' \
    '        reaction.pointee.state.unlock(.running, word.head)
        _ = reaction.pointee.state.read()
        let promise = reaction.upstream'

fault withdrawn-reaction-hides-its-promise HandOver.swift \
    'isWithdrawn ? reaction.withdrawnUpstream : reaction.upstream' \
    'reaction.upstream'

fault abandoned-is-not-out Yield.swift \
    '    if isFollowing { promise.beginOut() }
' ''

fault abandoned-though-cancelled Yield.swift \
    '    } else {
        promise.markOut()
    }' \
    '    } else {
        promise.markOut()
        promise.releaseProducer(thread)
    }'

fault cancelled-owns-no-producer CancelReaction.swift \
    '    if follower.isOut { follower.retainProducer() }
' ''

fault cancelled-follower-adopts-nothing CancelReaction.swift \
    '    promise?.pointee.isObserved.set()
' ''

# Of one that has a token, and of one that its executor has, the promise is read there.
fault error-covers-the-promise CancelReaction.swift \
    'if reaction.isBegunByRunning || reaction.upstream == nil {' \
    'if true {'

fault ends-before-the-canceller-is-through EndCancelled.swift \
    '    while !reaction.pointee.state.transitionToClaimed(from: .cancelled) {' \
    '    if !reaction.pointee.state.transitionToClaimed(from: .cancelled) {'

fault clean-up-is-skipped CancelReaction.swift \
    'if !reaction.isInline && (!isToBegin || !canRun) {' \
    'if !reaction.isInline {'

fault settled-before-the-handler-returned Cancel.swift \
    '            promise.errorToCome = error.retained()
            if keepsValue { promise.keepValue() }
            promise.pointee.state.unlock(.cancelled, word.head)
            return true' \
    '            settleLocked(promise, word, error.retained(), ownsProducer: false, thread)
            return true'

fault settled-before-its-context-is-destroyed CancelReaction.swift \
    '    if reaction.hasContextToDestroy {' \
    '    if false {'

fault moved-follower-is-not-cancelled Follow.swift \
    '        let isCancelled = follower.isCancelled
' \
    '        let isCancelled = false
'

fault late-member-is-withdrawn-in-its-queue CancelReaction.swift \
    'if let promise = reaction.upstream, takeOut(reaction, thread) {' \
    'if let promise = reaction.upstream, !promise.pointee.state.read().hasValue, takeOut(reaction, thread) {'

fault cancelled-follower-takes-the-value Follow.swift \
    'value = value.isError ? value.retained() : promise.ownError' \
    'value = value.retained()'

fault returned-promise-is-not-cancelled EndCancelled.swift \
    '    giveUpFollowed(by: reaction, error, thread)
' ''

fault cancelled-map-leaves-its-calls Machine.swift \
    'makeProduced(producer, isQuiet: true, thread)' \
    'makeProduced(producer, isQuiet: false, thread)'

likely+=(
    [cancel-does-not-wait]="cancel-inline-reaction"
    [markout-forgotten-in-batch]="cancel-handed-over"
    [markout-before-next-is-read]="cancel-inline-reaction cancel-handed-over cancel-first-of-batch two-register-settle"
    [follower-marked-out-before-its-claim]="cancel-follower"
    [settled-follower-not-marked-out]="cancel-follower"
    [redirected-follower-not-marked-out]="cancel-adopting cancel-moving"
    [arrived-follower-not-marked-out]="cancel-moved-by-hand release-moved cancel-moving"
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
    [cancelled-follower-adopts-nothing]="ring-released"
    [error-covers-the-promise]="cancel-handed-over cancel-running"
    [ends-before-the-canceller-is-through]="cancel-inline-reaction"
    [clean-up-is-skipped]="cancel-clean-up-elsewhere"
    [settled-before-the-handler-returned]="cancel-running"
    [settled-before-its-context-is-destroyed]="cancel-withdrawn"
    [moved-follower-is-not-cancelled]="resolver-released-meanwhile"
    [late-member-is-withdrawn-in-its-queue]="cancel-late-member"
    [cancelled-follower-takes-the-value]="cancel-follower"
    [returned-promise-is-not-cancelled]="cancel-returning"
    [cancelled-map-leaves-its-calls]="cancel-map"
)
