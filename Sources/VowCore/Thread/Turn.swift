// A turn: the library's work on a thread between two calls of foreign code, as one step; and the agenda, the lists of the
// work that the turn has made ready.
//
// A function enters its later work in the agenda, in the middle of a step, and `Drain` does it afterwards in the order of
// the stages, because the work of a stage may need the results of the stages before it. A nested call leaves a list that is
// being drained to the loop further down the stack (`Draining`), and all later stages while `handOver` is drained. A wait is
// the exception: its thread drains all stages first, because the awaited work may be there.
//
//   stage      entries                                                      while it is drained
//   outcomes   members that are notified at once: followers, observers      no foreign code runs
//   handOver   reactions, on the way to their executors                     an executor's `submit` may run
//   leftovers  reactions to settle that have a context to destroy; hooks    destructors and hooks run
//              to call; objects to free
//   ready      inline reactions and subscriptions                           handlers run

import CVow
import CVowPlatform

/// Calls `body`, and drains the agenda afterwards: foreign code that runs then may wait for what `body` has begun.
@inline(__always)
func asOneStep(_ thread: ThreadPointer, _ body: () -> Void) {
    if thread.pointee.agenda.draining.contains(.handOver) {
        body()
        drainOutcomes(thread)
        return
    }
    thread.pointee.agenda.draining.insert(.handOver)
    body()
    endStep(thread)
}

@inline(never)
private func endStep(_ thread: ThreadPointer) {
    if !thread.hasDone(through: .handOver) { drainHandOver(thread) }
    thread.pointee.agenda.draining.remove(.handOver)
    if thread.hasLeftovers { drainLeftovers(thread) }
}

/// Each outermost call of the library ends here: inline handlers run as its last act.
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
    // The foreign code may take its time.
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

enum AgendaStage: UInt8 {
    case outcomes, handOver, leftovers, ready
}

struct Draining: OptionSet {
    let rawValue: UInt8
    static let outcomes = Draining(rawValue: 1)
    static let handOver = Draining(rawValue: 2)
    /// The contexts to destroy.
    static let skipped = Draining(rawValue: 4)
    /// The objects to free, and the hooks.
    static let dead = Draining(rawValue: 8)
}

/// Starts as zeroes, as all fields of a thread do.
struct Agenda: ~Copyable {
    /// Followers and observers taken from settled promises, on the way to their outcome.
    var outcomes: SlotList
    /// Stopped observers, which give up their promises; cancelled promises of machines, whose lanes stop.
    var leaving: LeavingList
    /// Reactions taken from settled promises, on the way to their executors.
    var handOver: MemberList
    /// The promise of the first batch in that list; nil: ask the batch's last member.
    var batchPromise: RecordPointer?
    /// The promise whose last member is on the way to its executor: then its hand-over ends.
    var handedOver: RecordPointer?
    /// Reactions without a run that have a context to destroy. A reaction that follows is settled after that.
    var skipped: MemberList
    /// The same, linked by the slots: executors have their other links.
    var withdrawn: SlotList
    /// Inline reactions and subscriptions, to run when no foreign code is on the stack.
    var ready: MemberList
    /// Objects to free, linked through their counts.
    var dead: UInt64
    /// The hooks that producers asked for: a ring, in which the newest comes before the oldest.
    var newestHook: HookPointer?
    var draining: Draining
}

// Members of the thread's pointer: an agenda would be lent as a copy, unless it is inlined.
extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// No entry is left in that stage and the stages before it.
    @inline(__always)
    func hasDone(through stage: AgendaStage) -> Bool {
        pointee.agenda.outcomes.isEmpty && pointee.agenda.leaving.isEmpty
            && (stage.rawValue < AgendaStage.handOver.rawValue
                || pointee.agenda.handOver.isEmpty && pointee.agenda.handedOver == nil)
            && (stage.rawValue < AgendaStage.leftovers.rawValue || !hasLeftovers)
            && (stage.rawValue < AgendaStage.ready.rawValue || pointee.agenda.ready.isEmpty)
    }

    @inline(__always)
    var hasLeftovers: Bool {
        hasSkipped || pointee.agenda.dead != 0 || pointee.agenda.newestHook != nil
    }

    @inline(__always)
    var hasSkipped: Bool {
        !pointee.agenda.skipped.isEmpty || !pointee.agenda.withdrawn.isEmpty
    }
}

// MARK: The objects to free
//
// A list through the objects' own memory. A dead object's count is free for the link, because nothing counts the object any
// more. An executor's count stays 0 for the threads that look for it in the directory, so its empty intake has the link.

/// In the low bits of an address on the list, which a record has clear.
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

/// Takes the first object out, and calls the body for its kind. False: the list is empty.
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

// MARK: The references that inline reactions owe their promise

/// The references to a promise that inline reactions have not given back one by one: other reactions of the same delivery
/// are still to run on this thread, and keep the promise.
struct OwedReads {
    private var promise: RecordPointer?
    private var count: UInt64 = 0

    /// Returns the references owed for another promise, to be given back now.
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
// longjmp reads no unwind tables (boundary.c sees those that do): the frame of such a handler is still the thread's
// innermost one, but no longer on its stack.

/// Called before a wait, which would read that frame.
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
