// The agenda is done, stage by stage: loops, not recursions. What an entry means is known on the floors above, so that here,
// and nowhere else, a lower floor names what stands on higher ones.

import CVow

// MARK: Outcomes

/// Gives followers and observers the outcome that they were taken for. Calls no foreign code.
@inline(__always)
func drainOutcomes(_ thread: ThreadPointer) {
    if !thread.hasDone(through: .outcomes) { drainAllOutcomes(thread) }
}

@inline(never)
private func drainAllOutcomes(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    if !outer.allows(.outcomes) { return }
    thread.pointee.agenda.draining = .outcomes
    while true {
        if takeOwnOutcome(thread) { continue }
        guard let record = thread.pointee.agenda.leaving.popFirst() else { break }
        if record.pointee.shape.isProduced {
            stopLanes(ofCancelled: record, thread)
        } else {
            giveUpObserved(record, thread)
        }
    }
    thread.pointee.agenda.draining = outer
}

// MARK: Hand-over

/// Also nested, from a wait inside an executor's `submit`.
@inline(never)
func drainHandOver(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining = .handOver
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

/// The promise whose last member was just handed over, or, in a wait inside that member's `submit`, is being
/// handed over. The hand-over's producer reference has kept it alive.
private func finishLastBatch(_ thread: ThreadPointer) {
    while let promise = thread.pointee.agenda.handedOver {
        thread.pointee.agenda.handedOver = nil
        finishHandOver(of: promise, thread)
        drainOutcomes(thread)
    }
}

// MARK: Leftovers

@inline(__always)
func drainLeftoversUnlessBusy(_ thread: ThreadPointer) {
    if thread.pointee.agenda.draining.allows(.leftovers) { drainLeftovers(thread) }
}

/// What had to wait for the end of the hand-over, because it is foreign code that may wait for a member: contexts to
/// destroy, hooks to call, objects to free, and what dies by that. Also nested, from a wait inside a destructor.
@inline(never)
func drainLeftovers(_ thread: ThreadPointer) {
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining = .leftovers
    while true {
        // Hooks first: what a hook is called with may be the context of a link that waits for its producer.
        let calls = thread.pointee.agenda.newestHook != nil
        if !calls, let reaction = thread.pointee.agenda.skipped.popFirst() {
            skip(reaction, thread)
        } else if !calls, let reaction = thread.pointee.agenda.withdrawn.popFirst() {
            destroyContext(of: reaction, reading: nil, thread)
            asOneStep(thread) { endWithdrawn(reaction, thread) }
        } else {
            let isDead = popDead(
                thread, box: { freeBox($0, thread) }, executor: { freeExecutor($0, thread) },
                record: { freeRecord($0, thread) })
            if isDead { continue }
            if !calls { break }
            runHooks(thread)
        }
    }
    thread.pointee.agenda.draining = outer
}

// MARK: Ready

/// Runs every inline reaction that waits on this thread. Also nested, from a wait inside a handler.
@inline(never)
func drainReady(_ thread: ThreadPointer) {
    // Handlers may take their time; while one runs no worker is owed.
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

/// A wait in a handler or destructor holds up what its thread has begun and what waits for the end of that
/// handler. It may be what is waited for, so it is done first, inside. False when the stack is too short
/// for that: then the wait might not end.
///
/// The inline reactions before those have begun (they are on the stack), so the order holds.
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
        drainLeftovers(thread)
        drainReady(thread)
    }
    return true
}

/// A context of the library's own, which any thread may destroy.
func isOwn(_ destroy: @escaping Destroy) -> Bool {
    let own = address(of: destroy)
    return own == address(of: endWork) || own == address(of: endDelivery)
        || own == address(of: freeFilter)
}

// MARK: What executors do with an entry that they were given

/// Runs a reaction that its executor has begun.
/// - Parameter looksForWorkNext: the caller is a worker of the pool.
@inline(__always)
func perform(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    run(reaction, looksForWorkNext: looksForWorkNext, thread)
}

/// Settles one that its executor cannot run, as its marks say.
@inline(__always)
func performRefused(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    passThrough(reaction, thread)
}

/// A reaction for the pool was made ready, and no worker called for it.
@inline(__always)
func payOwedWorker(_ thread: ThreadPointer) {
    if thread.pointee.owesWorker { callOwedWorker(thread) }
}
