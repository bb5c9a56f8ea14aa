// Emptying the agenda, stage by stage: loops, not recursions. Floors above know what an entry means, so here, and nowhere else,
// a lower floor names functions of higher ones.
//
// Foreign code may call everything, also `vow_await`, so nothing that such a wait may need is stuck behind it on its thread:
//
// * From the claim to the settling, the only foreign code that could wait for that promise is its handler and the destructor of
//   its context. A `Frame` names it, so such a wait is refused. Other contexts and dead objects wait for the step.
// * While members are handed over, no destructor runs: contexts without a handler to run (`skipped`) and dead objects (`dead`)
//   wait. A context of an executor that owns its thread goes there (`executorOfContext`): the reaction is submitted with the
//   mark `passes`, and `run` settles it. A wait for such a reaction looks at that executor also after the handler
//   (`LookAhead`). A wait in `submit` first finishes the hand-over, the end of settling included (`handedOver`).
// * A wait first does the work that only its thread can do (`drainInsideWait`).

import CVow

// MARK: Outcomes

/// Gives the followers and observers on the list their outcome. Calls no foreign code.
@inline(__always)
func drainOutcomes(_ thread: ThreadPointer) {
    if !thread.hasDone(through: .outcomes) { drainAllOutcomes(thread) }
}

@inline(never)
private func drainAllOutcomes(_ thread: ThreadPointer) {
    if thread.pointee.agenda.draining.contains(.outcomes) { return }
    thread.pointee.agenda.draining.insert(.outcomes)
    while true {
        if takeOwnOutcome(thread) { continue }
        guard let record = thread.pointee.agenda.leaving.popFirst() else { break }
        if record.pointee.shape.isProduced {
            stopLanes(ofCancelled: record, thread)
        } else {
            giveUpObserved(record, thread)
        }
    }
    thread.pointee.agenda.draining.remove(.outcomes)
}

// MARK: Hand-over

/// Also nested, from a wait inside an executor's `submit`.
@inline(never)
func drainHandOver(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining.insert(.handOver)
    drainOutcomes(thread)
    finishLastBatch(thread)
    while let member = thread.pointee.agenda.handOver.popFirst() {
        noteLastOfBatch(member, thread)
        handOver(member, thread)
        drainOutcomes(thread)
        finishLastBatch(thread)
    }
    thread.pointee.agenda.draining = outer
}

/// Ends the hand-over of a promise whose last member was handed over, or, in a wait inside that member's `submit`, is being
/// handed over. The hand-over's producer reference keeps the promise.
private func finishLastBatch(_ thread: ThreadPointer) {
    while let promise = thread.pointee.agenda.handedOver {
        thread.pointee.agenda.handedOver = nil
        finishHandOver(of: promise, thread)
        drainOutcomes(thread)
    }
}

// MARK: Leftovers

/// Does what waited for the end of the hand-over, because foreign code may wait for a member: contexts, hooks, dead objects.
@inline(never)
func drainLeftovers(_ thread: ThreadPointer) {
    // Hooks first: a hook's context may be that of a link that waits for it.
    if thread.pointee.agenda.newestHook != nil { drainDeadUnlessBusy(thread) }
    if thread.hasSkipped && !thread.pointee.agenda.draining.contains(.skipped) {
        drainSkipped(thread)
    }
    if thread.pointee.agenda.dead != 0 || thread.pointee.agenda.newestHook != nil {
        drainDeadUnlessBusy(thread)
    }
}

/// Also nested, from a wait inside a context's destructor.
@inline(never)
func drainSkipped(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining.insert(.skipped)
    while true {
        if let reaction = thread.pointee.agenda.skipped.popFirst() {
            skip(reaction, thread)
        } else if let reaction = thread.pointee.agenda.withdrawn.popFirst() {
            destroyContext(of: reaction, reading: nil, thread)
            asOneStep(thread) { endWithdrawn(reaction, thread) }
        } else {
            break
        }
    }
    thread.pointee.agenda.draining = outer
}

@inline(__always)
func drainDeadUnlessBusy(_ thread: ThreadPointer) {
    if thread.pointee.agenda.draining.isDisjoint(with: [.dead, .handOver]) { drainDead(thread) }
}

/// Frees dead objects, and objects that die by that, and calls hooks. Also nested, from a wait inside a destructor.
@inline(never)
private func drainDead(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining.insert(.dead)
    while true {
        let isDead = popDead(
            thread, box: { freeBox($0, thread) }, executor: { freeExecutor($0, thread) },
            record: { freeRecord($0, thread) })
        if isDead { continue }
        if thread.pointee.agenda.newestHook == nil { break }
        runHooks(thread)
    }
    thread.pointee.agenda.draining = outer
}

// MARK: Ready

/// Runs every inline reaction on this thread's list. Also nested, from a wait inside a handler.
@inline(never)
func drainReady(_ thread: ThreadPointer) {
    // Handlers may take long, so the owed worker is called before.
    payOwedWorker(thread)
    while let member = thread.pointee.agenda.ready.popFirst() {
        if member.isBegunByRunning {
            runInline(member, thread)
        } else {
            run(member, thread)
        }
    }
}

// MARK: All of it, in a wait

/// Does the work that a wait would hold up, inside the wait, because the wait may need it: the delivery of the handlers on this
/// stack ends (they have begun, so the order holds), then hand-overs, destructors, frees, and inline reactions. Returns false
/// if the stack is too short: then the wait is refused (`VOW_EDEADLOCK`).
func drainInsideWait(_ thread: ThreadPointer) -> Bool {
    payOwedWorker(thread)
    var frame = thread.pointee.frame
    while let current = frame {
        let reaction = current.pointee.reaction
        if let promise = current.pointee.promise {
            asOneStep(thread) { finishDelivery(of: reaction, promise, thread) }
        }
        frame = current.pointee.outer
    }
    while !thread.hasDone(through: .ready) {
        if !hasStackLeft() { return false }
        drainHandOver(thread)
        drainDead(thread)
        drainSkipped(thread)
        drainReady(thread)
    }
    return true
}

/// The context is the library's own, so any thread may destroy it.
func isOwn(_ destroy: @escaping Destroy) -> Bool {
    let own = address(of: destroy)
    return own == address(of: endWork) || own == address(of: endDelivery)
        || own == address(of: freeFilter) || own == address(of: endNothing)
}

// MARK: Entries of executors

/// Runs a reaction that its executor was given: see `run`.
@inline(__always)
func perform(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    run(reaction, looksForWorkNext: looksForWorkNext, thread)
}

/// Settles a reaction that its executor cannot run, as its marks say.
@inline(__always)
func performRefused(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.shape == .step {
        refuse(FiberPointer(ofStep: reaction), thread)
    } else {
        passThrough(reaction, thread)
    }
}

func begin(fiberOf work: RecordPointer, _ thread: ThreadPointer) { beginFiber(of: work, thread) }
func goOn(_ fiber: FiberPointer, _ thread: ThreadPointer) {
    // Counted with the inline reactions of a promise, which the fiber's function keeps until the fiber goes on.
    if fiber.step.passage.contains(.countedInline), let promise = fiber.step.upstream {
        asOneStep(thread) { finishDelivery(of: fiber.step, promise, thread) }
    }
    enter(fiber, thread)
}

/// Runs a loop's ready work so that a handler that waits can be suspended.
func runAside(_ loop: LoopPointer, _ thread: ThreadPointer, until promise: RecordPointer?) -> Int {
    runOnFiber(loop, thread, until: promise)
}
func refusePinned(of loop: LoopPointer, _ thread: ThreadPointer) {
    refuseSuspended(on: loop, thread)
}
func endIdleFiber(of loop: LoopPointer, _ thread: ThreadPointer) { endIdle(of: loop, thread) }

/// Calls a worker for the reaction that a pool worker left in the queue without a call.
@inline(__always)
func payOwedWorker(_ thread: ThreadPointer) {
    if thread.pointee.owesWorker { callOwedWorker(thread) }
}
