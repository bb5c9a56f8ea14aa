# Faults of combinators, scopes and progress. Sourced by `mutants`.

fault scope-is-held-from-nothing ScopeCancel.swift \
    '    if !scope.pointee.holds.addOneUnlessZero() {' \
    '    if scope.pointee.holds.addRelaxed(1) > 1000 {'

fault member-is-added-to-nothing ScopeMembers.swift \
    '        if !scope.pointee.holds.addOneUnlessZero() { return Entry.ended }' \
    '        _ = scope.pointee.holds.addRelaxed(1)'

fault scope-is-closed-by-all Scope.swift \
    '    if scope.pointee.closed.exchangeAcquireRelease(1) == 0 {' \
    '    if scope.pointee.closed.exchangeAcquireRelease(0) == 0 {'

fault progress-two-at-a-time Progress.swift \
    'if !listener.pointee.hasNews || listener.pointee.isDelivering { return }' \
    'if !listener.pointee.hasNews { return }'

fault progress-tells-a-settled-one Progress.swift \
    'if !listener.pointee.isWanted || listener.pointee.timeLeft(at: now) > 0 { return }' \
    'if !listener.pointee.hasNews || listener.pointee.timeLeft(at: now) > 0 { return }'

fault progress-news-is-lost Progress.swift \
    '            next = beginDelivery(listener)
            wait = listener' \
    '            wait = listener'

fault progress-delivery-has-no-hold Progress.swift \
    '    listener.pointee.hasRun = false
    listener.pointee.holds += 1
' \
    '    listener.pointee.hasRun = false
'

fault scope-shows-no-members ScopeMembers.swift \
    'if place == mostLookedAt || isForkedChild { return .noMore }' \
    'if place <= mostLookedAt || isForkedChild { return .noMore }'

fault undecided-member-tells-nobody Group.swift \
    '    nudgeWaitingThreads(past: bit(of: group.promise))
    letGo(of: group, 1, thread)' \
    '    letGo(of: group, 1, thread)'

likely+=(
    [scope-is-held-from-nothing]=scope-end-cancelled
    [member-is-added-to-nothing]=scope-added-to
    [scope-is-closed-by-all]=scope-closed-twice
    [progress-two-at-a-time]="progress-twice"
    [progress-tells-a-settled-one]="progress-serial"
    [progress-news-is-lost]="progress-twice"
    [progress-delivery-has-no-hold]="progress-release progress-twice"
    [scope-shows-no-members]="ring-through-scopes"
    [undecided-member-tells-nobody]="rival-rejected"
)
