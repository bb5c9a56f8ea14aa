# Faults of following: entering, redirecting and yielding what is followed. Sourced by `mutants`.

# Whoever walks past it goes on to what it followed.
fault abandon-gives-back-early Yield.swift \
    '    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    promise.releaseProducer(thread)' \
    '    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    let followed = promise.upstream
    promise.releaseProducer(thread)
    followed?.release(thread)' \
    Free.swift \
    '            record.upstream?.giveBack(leftWith: error, thread)
' ''

fault retain-after-unlock Path.swift \
    '        found.promise?.visit()
        pointee.state.unlock(word.phase, word.head)' \
    '        pointee.state.unlock(word.phase, word.head)
        found.promise?.visit()'

fault idle-observer-is-locked Observe.swift \
    '        guard let word = pointee.state.lock(whileIn: .open) else { return .nothing }
        let promise = upstream
        promise?.visit()
        pointee.state.unlock(.open, word.head)' \
    '        let word = pointee.state.lock()
        let promise = word.phase == .open ? upstream : nil
        promise?.visit()
        pointee.state.unlock(word.phase, word.head)'

fault dies-though-held Yield.swift \
    '        && promise.nowCounts.isRead(by: followers, besides: besides)
' ''

fault passes-on-in-its-queue Follow.swift \
    '        _ = takeOut(promise, thread)
        guard' \
    '        guard'

fault passes-on-unclaimed Follow.swift \
    'unlock(passes ? .claimed : word.phase, word.head)' \
    'unlock(word.phase, word.head)'

fault redirect-without-the-lock Redirect.swift \
    '    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }
    if hasLeft { before.endVisit(thread) } else { leaveBehind(before, thread) }' \
    '    follower.pointee.state.unlock(word.phase, word.head)
    if !stands && hasLeft { before.endVisit(thread) }
    if !stands && !hasLeft { leaveBehind(before, thread) }
    follower.upstream = followed
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }'

fault walk-counts-as-a-reader Follow.swift \
    '        switch redirect(follower, to: end.promise, isVisit: true, thread) {' \
    '        end.promise.retain()
        let redirection = redirect(follower, to: end.promise, isVisit: true, thread)
        end.promise.release(thread)
        switch redirection {'

fault leaves-in-two-steps Counts.swift \
    '        exchangeReference(by: Counts.oneVisitor &- Counts.oneReader, unlessReadersAre: 1)' \
    '        if nowCounts.readers == 1 { return false }
        _ = pointee.counts.addRelaxed(Counts.oneVisitor &- Counts.oneReader)
        return true'

fault redirected-follower-is-not-on-the-way Redirect.swift \
    '        follower.isOnTheWay = true
' ''

fault enters-what-its-followers-have-left Follow.swift \
    'if word.hasValue || word.phase == .following && promise.hasYielded {' \
    'if word.hasValue {'

fault stays-though-unread Counts.swift \
    'unlessReadersAre: 0' \
    'unlessReadersAre: .max'

fault inherits-though-visited Redirect.swift \
    'before.isOnlyMine &&' \
    'before.nowCounts.readers == 1 && before.nowCounts.producers == 0 &&'

likely+=(
    [abandon-gives-back-early]="walk-past-dying walk-behind-dying"
    [retain-after-unlock]="walk-past-dying"
    [idle-observer-is-locked]=machine-looked-through
    [dies-though-held]="held-while-dying walk-past-dying"
    [passes-on-in-its-queue]="held-while-dying"
    [passes-on-unclaimed]="held-while-dying"
    [redirect-without-the-lock]="walk-past-dying walk-behind-dying two-die"
    [walk-counts-as-a-reader]="cancel-attaching"
    [leaves-in-two-steps]="cancel-both-followers cancel-both-readers"
    [redirected-follower-is-not-on-the-way]="cancel-moved-by-hand cancel-moved"
    [enters-what-its-followers-have-left]="stand-with-dying"
    [stays-though-unread]="walk-past-dying walk-behind-dying stand-with-dying two-die"
    [inherits-though-visited]="walk-past-dying walk-behind-dying two-die"
)
