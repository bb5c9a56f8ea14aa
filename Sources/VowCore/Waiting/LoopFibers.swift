// Handlers of a loop that wait are suspended.
//
// A loop's runner (Executors/RunLoop.swift) runs the ready work on the stack of a fiber of its own (`runOnFiber`), and so any
// code in there can be suspended: a handler, a destructor, a function of a watch. Then the runner goes on with another fiber.
// So each wait keeps its own time, and the runner's own wait ends when its promise has settled, whatever its handlers wait for.
//
// Such a fiber is *pinned*: calls of the library on its stack have their thread, so only that thread goes on with it. The loop
// lists its pinned fibers, and no other thread can run it, or destroy it, meanwhile. A thread that ends, or destroys the loop,
// refuses them: their waits go on as waits that block the thread. The steps of pinned fibers come to the loop also when it is
// closed, and `refuseSuspended` waits for those that another thread is about to hand over.
//
// A pinned fiber's wait is listed and looks ahead as a waiting thread's (Thread/WaitingThreads.swift). It blocks no executor,
// for the loop goes on; it is nudged by the fiber's step.
//
// A fiber that has run all that was ready rests, and the loop keeps it for the next time. Without memory for a stack the work
// runs on the thread's own, and waits nest: a wait runs the loop inside itself.

import CVow
import CVowPlatform

// MARK: On the runner's stack

/// Runs the ready work of a loop, whose runner is the calling thread. Returns how much ran.
func runOnFiber(_ loop: LoopPointer, _ thread: ThreadPointer, until promise: RecordPointer?) -> Int
{
    // A handler that runs its own loop has a fiber already.
    let isNested = thread.pointee.fiber.map { $0.pointee.work == nil && $0.runs(in: loop) } ?? false
    var ran = 0
    while !isNested, let fiber = takeFiber(of: loop) {
        let isNew = fiber.pointee.leaving != .rests
        fiber.pointee.ran = 0
        fiber.run.pointee.awaited = promise
        // For the looks after it has perhaps ended.
        _ = fiber.pointee.references.addRelaxed(1)
        defer { fiber.release() }
        enter(fiber, beginning: isNew ? runLoop : nil, thread)
        // Until the caller runs the loop again, no thread goes on with a suspended fiber.
        ran += fiber.pointee.ran
        let isOver =
            !fiber.pointee.wasSuspended || ran >= mostOfRun || !loop.isUsable
            || promise?.pointee.state.read().hasValue == true
        if isOver { return ran }
    }
    return ran + runReady(loop, thread, until: promise, on: nil)
}

private func takeFiber(of loop: LoopPointer) -> FiberPointer? {
    if let fiber = FiberPointer(bitPattern: UInt(loop.pointee.idleFiber.loadRelaxed())) {
        loop.pointee.idleFiber.storeRelaxed(0)
        return fiber
    }
    guard let memory = takeMemory(fiberSize) else { return nil }
    guard let stack = vow_platform_take_stack(vow_platform_usual_stack_size()) else {
        giveMemoryBack(memory, fiberSize)
        return nil
    }
    let fiber = FiberPointer(in: memory)
    fiber.initialize(to: Fiber(nil, nil, nil, stackSize: 0, size: fiberSize))
    fiber.run.initialize(to: FiberRun())
    prepare(fiber, stack, loop.pointee.executor)
    return fiber
}

/// Ends the fiber that a loop keeps.
func endIdle(of loop: LoopPointer, _ thread: ThreadPointer) {
    guard let fiber = FiberPointer(bitPattern: UInt(loop.pointee.idleFiber.loadRelaxed())) else {
        return
    }
    loop.pointee.idleFiber.storeRelaxed(0)
    fiber.pointee.refusal = .isShutOut
    enter(fiber, thread)
}

/// The loop is closed, or its thread ends: pinned fibers that are suspended go on here, and their waits run no loop, or run it
/// inside themselves. The steps of the others are on their way to the loop.
func refuseSuspended(on loop: LoopPointer, _ thread: ThreadPointer) {
    var steps = MemberList()
    var missing = 0
    var next = firstPinned(of: loop)
    while let fiber = next {
        next = fiber.pointee.next
        fiber.pointee.refusal = [.isRefused, .isShutOut]
        if let step = fiber.pointee.waiter?.nudgeFiber() {
            steps.append(step)
        } else {
            missing += 1
        }
    }
    // A closed loop takes nothing else. All come before the first goes on: its wait may need the others.
    var pause = Backoff()
    while loop.isClosed && missing > 0 {
        takeIntake(of: loop.pointee.executor)
        if let step = loop.pointee.executor.batch.pointee.popFirst() {
            steps.append(step)
            missing -= 1
        } else {
            pause.wait()
        }
    }
    if steps.isEmpty { return }
    thread.pointee.agenda.ready.append(steps)
    drainReady(thread)
}

private func firstPinned(of loop: LoopPointer) -> FiberPointer? {
    FiberPointer(bitPattern: UInt(loop.pointee.firstPinned.loadRelaxed()))
}

// MARK: On the fiber's stack

private func runLoop(_ context: UnsafeMutableRawPointer?) {
    guard let fiber = context.map({ FiberPointer(in: $0) }),
        let executor = fiber.step.executorElsewhere
    else { fatal("a stack without a loop") }
    let loop = executor.loop
    threadNow().pointee.place = place(of: fiber)
    while true {
        // Between two runs, another thread may have become the loop's.
        let thread = threadNow()
        executor.retain()
        let awaited = fiber.run.pointee.awaited
        fiber.pointee.ran = runReady(loop, thread, until: awaited, on: fiber)
        executor.release(fiber.pointee.place.runs, thread)
        fiber.pointee.place.runs = 0
        fiber.pointee.wasSuspended = false
        // A refused fiber suspends no handler any more; so the loop ends a resting one.
        let isOver = !loop.isUsable || fiber.pointee.refusal != nil
        let rests = !isOver && loop.pointee.idleFiber.loadRelaxed() == 0
        if rests { loop.pointee.idleFiber.storeRelaxed(word(of: fiber)) }
        executor.release(thread)
        if rests {
            fiber.pointee.leaving = .rests
            leave(fiber, thread)
        }
        if !rests || fiber.pointee.refusal != nil {
            fiber.pointee.leaving = .ended
            leave(fiber, threadNow(), isLast: true)
        }
    }
}

// MARK: Waiting

/// The fiber that a wait of the calling thread suspends, whatever is on its stack. Nil: the wait runs the loop inside itself.
func fiberPinned(to loop: LoopPointer, _ thread: ThreadPointer) -> FiberPointer? {
    guard let fiber = thread.pointee.fiber, fiber.runs(in: loop), loop.isUsable,
        fiber.pointee.refusal == nil, !thread.pointee.nestsWaits
    else { return nil }
    return fiber
}

/// Suspends a pinned fiber until a promise (borrowed) is settled.
func suspend(
    _ fiber: FiberPointer, pinnedTo loop: LoopPointer, until promise: RecordPointer,
    _ deadline: Deadline, _ thread: ThreadPointer
) -> WaitResult {
    withWait(on: fiber, timeout: deadline.delay) { wait in
        let waiting = WaitingThread(
            waiter: wait.waiter, promise: promise, until: deadline, place: WaitingPlace(),
            thread)
        fiber.step.upstream = promise
        return whileListed(waiting, thread) { waiting in
            if promise.pointee.state.enlist(wait.waiter, while: .ofWaiters) != nil {
                return .settled
            }
            let began = isTracing ? noteWaits(wait.waiter, for: promise) : 0
            defer { if began != 0 { noteWaited(wait.waiter, for: promise, since: began) } }
            let result =
                wait.startTimer(thread)
                ?? sleep(fiber, wait, waiting, pinnedTo: loop, deadline, thread)
            if case .settled = result { return .settled }
            return withdraw(wait.waiter, from: promise) ? result : .settled
        }
    }
}

private func sleep(
    _ fiber: FiberPointer, _ wait: FiberWaitPointer, _ waiting: WaitingPointer,
    pinnedTo loop: LoopPointer, _ deadline: Deadline, _ thread: ThreadPointer
) -> WaitResult {
    while true {
        if !drainInsideWait(thread) { return .deadlock }
        if let result = wait.result(on: fiber) { return result }
        switch lookAhead(for: waiting, until: deadline, thread) {
        case .deadlock: return .deadlock
        case .forked: return .forked
        case .runnable: fatal("a wait on a loop found work of the pool")
        case .blocked: break
        }
        if !thread.hasDone(through: .ready) { continue }
        fiber.pointee.waiter = wait.waiter
        // A wait inside this one has left its own promise there.
        fiber.step.upstream = waiting.pointee.promise
        fiber.pointee.leaving = .suspended
        fiber.pointee.wasSuspended = true
        pin(fiber, to: loop)
        leave(fiber, thread)
        unpin(fiber, from: loop)
    }
}

private func pin(_ fiber: FiberPointer, to loop: LoopPointer) {
    let first = firstPinned(of: loop)
    fiber.pointee.next = first
    fiber.pointee.previous = nil
    fiber.pointee.isPinned = true
    first?.pointee.previous = fiber
    loop.pointee.firstPinned.storeRelaxed(word(of: fiber))
}

private func unpin(_ fiber: FiberPointer, from loop: LoopPointer) {
    fiber.pointee.isPinned = false
    let (next, previous) = (fiber.pointee.next, fiber.pointee.previous)
    next?.pointee.previous = previous
    if let previous {
        previous.pointee.next = next
    } else {
        loop.pointee.firstPinned.storeRelaxed(word(of: next))
    }
}
