// A turn of a thread: what the library does between two calls of foreign code, as one step; and the agenda, the lists of
// what the turn has made ready and not yet done.
//
// A function that has something to do enters it in the agenda, in the middle of a step, and `Drain` does it afterwards, in
// the order of the stages: what happens in one stage may need what the stages before it have left. While a stage is drained,
// nested calls drain only the stages before it, and leave the rest to the loop further down the stack. A wait is the
// exception: its thread drains all stages first, because what it waits for may be there.
//
//   stage      entries                                                      while it is drained
//   outcomes   members that are told at once: followers, observers          no foreign code runs
//   handOver   reactions, on the way to their executors                     an executor's `submit` may run
//   leftovers  reactions to settle that have a context to destroy; hooks    destructors and hooks run
//              to call; objects to free
//   ready      inline reactions and subscriptions                           handlers run

import CVow
import CVowPlatform

/// Calls `body`, and drains the agenda afterwards: foreign code that runs then may wait for what `body` has begun.
@inline(__always)
func asOneStep(_ thread: ThreadPointer, _ body: () -> Void) {
    let outer = thread.pointee.agenda.draining
    if !outer.allows(.handOver) {
        body()
        drainOutcomes(thread)
        return
    }
    thread.pointee.agenda.draining = .handOver
    body()
    endStep(outer, thread)
}

/// Mostly there is nothing to drain.
@inline(never)
private func endStep(_ outer: AgendaStage, _ thread: ThreadPointer) {
    thread.pointee.agenda.draining = outer
    if !thread.hasDone(through: .leftovers) { drainStep(thread) }
}

@inline(never)
private func drainStep(_ thread: ThreadPointer) {
    drainHandOver(thread)
    drainLeftoversUnlessBusy(thread)
}

/// And every outermost one ends here: inline handlers run as its last act.
@inline(__always)
func leave(_ thread: ThreadPointer) {
    if thread.pointee.foreignDepth == 0 && !thread.pointee.agenda.ready.isEmpty {
        drainReady(thread)
    }
}

@inline(__always)
func runForeign<Result>(_ thread: ThreadPointer, _ body: () -> Result) -> Result {
    thread.pointee.foreignDepth &+= 1
    defer { thread.pointee.foreignDepth &-= 1 }
    // It may take its time.
    payOwedWorker(thread)
    #if VOW_CHECKED
        var outer = thread.pointee.foreignPlace
        return withUnsafeMutablePointer(to: &outer) { outer in
            thread.pointee.foreignPlace = UnsafeRawPointer(outer)
            defer { thread.pointee.foreignPlace = outer.pointee }
            return body()
        }
    #else
        return body()
    #endif
}

// MARK: The agenda

/// The stages, the last one first; `idle`: no stage is drained.
enum AgendaStage: UInt8 {
    case idle, ready, leftovers, handOver, outcomes

    /// Whether another stage may be drained while this one is.
    @inline(__always)
    func allows(_ other: AgendaStage) -> Bool { rawValue < other.rawValue }
}

/// Starts as zeroes, as all that a thread has.
struct Agenda: ~Copyable {
    /// Followers and observers taken from settled promises, on the way to their outcome.
    var outcomes: SlotList
    /// Observers that were stopped, on the way to giving up what they observed; cancelled promises of machines, whose lanes are
    /// to be stopped.
    var leaving: LeavingList
    /// Reactions taken from settled promises, on the way to their executors.
    var handOver: MemberList
    /// The promise of the first batch in that list; nil: ask the batch's last member.
    var batchPromise: RecordPointer?
    /// The promise whose last member is on its way to its executor: then its hand-over is finished.
    var handedOver: RecordPointer?
    /// Reactions that no handler will run for and that have a context to destroy; those that follow, and are to be settled
    /// after that.
    var skipped: MemberList
    /// The same, of which executors have others of their links.
    var withdrawn: SlotList
    /// Inline reactions and subscriptions, to run when no foreign code is on the stack.
    var ready: MemberList
    /// Objects to free, linked through their counts.
    var dead: UInt64
    /// What producers asked to be called: a ring, in which the newest comes before the oldest.
    var newestHook: HookPointer?
    /// The stage that is drained on this stack. A step drains as if it were `handOver`.
    var draining: AgendaStage
}

// Asked of the thread, and not of its agenda: that would be lent as a copy where it is not inlined.
extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// Nothing stands in that stage and those before it.
    @inline(__always)
    func hasDone(through stage: AgendaStage) -> Bool {
        pointee.agenda.outcomes.isEmpty && pointee.agenda.leaving.isEmpty
            && (stage.rawValue > AgendaStage.handOver.rawValue
                || pointee.agenda.handOver.isEmpty && pointee.agenda.handedOver == nil)
            && (stage.rawValue > AgendaStage.leftovers.rawValue || !hasLeftovers)
            && (stage.rawValue > AgendaStage.ready.rawValue || pointee.agenda.ready.isEmpty)
    }

    /// What had to wait for the end of the hand-over.
    @inline(__always)
    var hasLeftovers: Bool {
        hasSkipped || pointee.agenda.dead != 0 || pointee.agenda.newestHook != nil
    }

    /// Reactions whose contexts are to be destroyed.
    @inline(__always)
    var hasSkipped: Bool {
        !pointee.agenda.skipped.isEmpty || !pointee.agenda.withdrawn.isEmpty
    }
}

// MARK: The objects to free
//
// The objects that a thread is to free: a list through their own memory.
//
// A dead object's count is free for the link, since nothing counts the object any more; an executor's count stays 0 for
// the threads that look for it in the directory, so its empty intake holds the link.

/// In the low bits of an address on the list; a record has none.
private let boxMark: UInt64 = 1
private let executorMark: UInt64 = 2

@inline(__always)
func pushDead(_ record: RecordPointer, _ thread: ThreadPointer) {
    record.pointee.counts.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: record))
}

@inline(__always)
func pushDead(_ box: BoxPointer, _ thread: ThreadPointer) {
    box.pointee.count.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: box)) | boxMark
}

@inline(__always)
func pushDead(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    executor.pointee.intake.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: executor)) | executorMark
}

/// Takes the first one out, and says what it is. False: there is none.
@inline(__always)
func popDead(
    _ thread: ThreadPointer, box: (BoxPointer) -> Void, executor: (ExecutorPointer) -> Void,
    record: (RecordPointer) -> Void
) -> Bool {
    let dead = thread.pointee.agenda.dead
    if dead == 0 { return false }
    let address = UInt(dead & ~(boxMark | executorMark))
    if dead & boxMark != 0, let it = BoxPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.count.loadRelaxed()
        box(it)
    } else if dead & executorMark != 0, let it = ExecutorPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.intake.loadRelaxed()
        executor(it)
    } else if let it = RecordPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.counts.loadRelaxed()
        record(it)
    }
    return true
}

// MARK: What inline reactions owe their promise

/// References to a promise that inline reactions have not given back one by one, because others of the same
/// delivery are still to run on this thread and keep the promise.
struct OwedReads {
    private var promise: RecordPointer?
    private var count: UInt64 = 0

    /// Returns what is owed for another promise, to be given back now.
    @inline(__always)
    mutating func add(_ promise: RecordPointer) -> (promise: RecordPointer, count: UInt64)? {
        if self.promise == promise {
            count &+= 1
            return nil
        }
        let before = self.promise.map { ($0, count) }
        self.promise = promise
        count = 1
        return before
    }

    @inline(__always)
    mutating func take(of promise: RecordPointer) -> UInt64 {
        if self.promise != promise { return 0 }
        self.promise = nil
        return count
    }
}

// MARK: Handlers that were left by longjmp
//
// longjmp reads no unwind tables (see boundary.c for what does): the frame of a handler that was left so is still the
// thread's innermost one, but no longer on its stack.

/// Before a wait, which would read that frame.
func checkHandlersAreThere(_ thread: ThreadPointer) {
    if let frame = thread.pointee.frame { checkIsThere(frame) }
}

@inline(never)
func checkIsThere(_ place: UnsafeRawPointer) {
    if vow_platform_is_left(place) != 0 {
        fatal(
            "longjmp left a handler, or another function that the library had called; ",
            "nothing can go on after that")
    }
}
