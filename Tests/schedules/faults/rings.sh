# Faults of looking for rings: below a follower, and ahead of who waits. Sourced by `mutants`.

fault no-look-through-reactions Path.swift \
    '            waits = !further.pointee.state.read().hasValue
' ''

fault no-look-through-finally Path.swift \
    '            further.endVisit(thread)
            holdsOutcome = true
            waits = true' \
    '            further.endVisit(thread)
            holdsOutcome = true'

fault waiting-finally-is-a-follower Path.swift \
    'standsBetween ? .waitsFor(upstream) : .follows(upstream)' \
    '.follows(upstream)'

# Two that close a ring from both ends may both look before either has entered.
fault looks-below-before-entering Follow.swift \
    '        guard let obstacle = enter(end, follower) else {' \
    '        let mayBeRing =
            end.waits && lookBelow(follower, for: end.promise, thread) == .perhaps
        guard let obstacle = enter(end, follower) else {' \
    Follow.swift \
    'endEntering(follower, isCancelled, waits: end.waits, thread)' \
    'endEntering(follower, isCancelled, waits: mayBeRing, thread)'

# As if those who are too many did not wait.
fault looks-at-few-below LookBelow.swift \
    '                if waiting == wanted || last == end {' \
    '                if last == end {
                } else if waiting == wanted {'

fault look-ahead-goes-round LookAhead.swift \
    '        if isTooLate || watch.hasSeen(current, thread) {' \
    '        if isTooLate {'

fault ring-may-lose-its-follower Rings.swift \
    '    if isRing { follower.visit() }
    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)' \
    '    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)
    follower.visit()'

fault moving-may-lose-its-followers Yield.swift \
    '            follower.visit()
            list.prepend' \
    '            list.prepend' \
    Yield.swift \
    '        follower.endVisit(thread)
    }
    followed' \
    '    }
    followed' \
    Yield.swift \
    'takeFollowers(of: follower, besides: Counts.oneVisitor)' \
    'takeFollowers(of: follower, besides: 0)' \
    Yield.swift \
    'isUnreadable(follower, besides: Counts.oneVisitor)' \
    'isUnreadable(follower, besides: 0)'

fault way-ends-at-a-combined-promise Path.swift \
    'waits = current.needsEach != nil' \
    'waits = false'

fault running-handlers-wait-unseen LookAhead.swift \
    'if word.phase == .running || word.phase == .cancelled,
        let awaited' \
    'if word.phase == .settled,
        let awaited'

fault held-executors-are-unseen LookAhead.swift \
    'guard let awaited = promiseAwaited(blocking: executor) else { return .blocked }' \
    'guard let awaited = promiseAwaited(blocking: executor), false else { return .blocked }'

fault outcome-on-its-way-is-forgotten LookAhead.swift \
    'return settled > heard && !view.needsEach ? .blocked : found' \
    'return found'

likely+=(
    [no-look-through-reactions]="ring-through-reactions"
    [no-look-through-finally]="ring-through-finally-and-reaction"
    [waiting-finally-is-a-follower]="ring-through-finally adopt-waiting-finally"
    [looks-below-before-entering]="ring-through-reactions"
    [looks-at-few-below]="ring-through-reactions"
    [look-ahead-goes-round]="ring-awaited ring-awaited-inside"
    [ring-may-lose-its-follower]="cancel-ring-unheld"
    [moving-may-lose-its-followers]="cancel-moving-ring"
    [way-ends-at-a-combined-promise]="ring-through-all"
    [running-handlers-wait-unseen]="crossed-results"
    [held-executors-are-unseen]="crossed-waits"
    [outcome-on-its-way-is-forgotten]="rival-resolved"
)
