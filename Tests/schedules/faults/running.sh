# Faults of running reactions, and the executors that run them. Sourced by `mutants`.

fault inline-overtakes React.swift \
    'enlist(reaction, while: .ofInlineReactions)' \
    'enlist(reaction, while: .ofReactions)'

fault submit-keeps-no-executor Submit.swift \
    '    executor.retain()
    let outer = thread' \
    '    let outer = thread' \
    Submit.swift \
    '    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }
    executor.release(thread)' \
    '    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }'

# Contexts of other reactions are destroyed between the handler's return and its result.
fault result-counts-too-late RunInline.swift \
    '    let delivery = reaction.takeDelivery()
    if result.kind' \
    '    if let promise { asOneStep(thread) { finishDelivery(of: reaction, promise, thread) } }
    let delivery = reaction.takeDelivery()
    if result.kind'

fault skipped-contexts-die-at-once PassThrough.swift \
    '        thread.pointee.agenda.skipped.append(reaction)
    }' \
    '        skip(reaction, thread)
    }'

# With a step between, as above.
fault runner-reads-the-slot RunInline.swift \
    '    let promise = reaction.source
    let input' \
    '    _ = reaction.pointee.state.read()
    let promise = reaction.upstream
    let input'

fault begun-though-cancelled PassThrough.swift \
    '    if reaction.isUnseen && reaction.pointee.state.read().phase == .open {' \
    '    if reaction.isUnseen {'

fault clean-up-does-not-see-the-value PassThrough.swift \
    'if let cancellation, promise == nil || !reaction.pointee.shape.contains(.finally) {' \
    'if let cancellation {'

fault context-dies-before-what-was-returned Run.swift \
    '            reaction.executorOfContext?.retain()
            return
' ''

fault runs-are-not-given-back Place.swift \
    '    executor.release(place.runs, thread)
' ''

fault run-at-once-while-others-wait React.swift \
    'pointee.state.read().phase == .settled && !shape.contains(.finally)' \
    'pointee.state.read().hasValue && !shape.contains(.finally)'

likely+=(
    [submit-keeps-no-executor]="executor-release"
    [result-counts-too-late]="result-before-context"
    [skipped-contexts-die-at-once]="late-before-context"
    [runner-reads-the-slot]="cancel-inline-reaction"
    [begun-though-cancelled]="cancel-released-running"
    [clean-up-does-not-see-the-value]="cancel-clean-up"
    [context-dies-before-what-was-returned]="kept-context"
    [runs-are-not-given-back]="executor-release"
    [run-at-once-while-others-wait]="then-at-once"
)
