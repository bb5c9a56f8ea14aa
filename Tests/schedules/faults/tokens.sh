# Faults of cancel sources, their tokens and hooks, and leaving them. Sourced by `mutants`.

fault hook-added-without-asking-who-reads Hooks.swift \
    '    if isOpen && !isUnread {' \
    '    if isOpen {'

fault hooks-are-called-twice Interest.swift \
    '        promise.hooks = nil
        promise.pointee.state.unlock' \
    '        promise.pointee.state.unlock'

fault token-retains-after-unlock Token.swift \
    '                entry.reaction.retainProducer()
                return .promise(entry.reaction)' \
    '                return .promise(entry.reaction)' \
    Token.swift \
    '            cancelAlone(promise, rejection.value, thread)
        }
        promise.releaseProducer(thread)' \
    '            promise.retainProducer()
            cancelAlone(promise, rejection.value, thread)
            promise.releaseProducer(thread)
        }'

fault token-link-retains-after-unlock Token.swift \
    'if child.retainTokenUnlessEnding() { return .source(child) }' \
    'return .source(child)' \
    Token.swift \
    '    case .source(let child):
' \
    '    case .source(let child):
        child.retainToken()
'

fault token-entered-without-looking Token.swift \
    '    let rejection = source.pointee.lock.withLock {
        if let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(reaction.registration)' \
    '    let isCancelled = source.pointee.isCancelled.isSet
    let rejection = source.pointee.lock.withLock {
        if isCancelled, let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(reaction.registration)'

fault token-revives-an-ending-source Source.swift \
    'while counts >= oneToken {' \
    'while true {'

fault hook-of-a-token-without-source Hooks.swift \
    'if source.pointee.rejection != nil || !source.canBeCancelled { return false }' \
    'if source.pointee.rejection != nil { return false }'

fault linked-source-ends-with-its-handle Source.swift \
    '            _ = link.pointee.child.pointee.cancellers.addRelaxed(1)
' ''

fault parents-end-and-tell-nobody Source.swift \
    'if child.giveCancellerBack() {' \
    'if false {'

fault what-has-left-is-called Hook.swift \
    'pointee.stage.replaceAcquire(HookStage.waiting, HookStage.running).exchanged' \
    'pointee.stage.exchangeAcquireRelease(HookStage.running) < 4'

fault leaver-looks-at-a-dead-promise Registrations.swift \
    '        if hook.pointee.registration.isListed {' \
    '        if false {'

fault leaver-takes-what-is-taken Registrations.swift \
    'if word.phase != .open || promise.hooks == nil { return false }' \
    'if promise.hooks == nil { return false }'

fault left-hook-stays-listed Registrations.swift \
    '    if hook.giveUp() && takeOut(hook) {' \
    '    if hook.giveUp() {'

likely+=(
    [hook-added-without-asking-who-reads]="hook-release"
    [hooks-are-called-twice]="hook-release"
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
)
