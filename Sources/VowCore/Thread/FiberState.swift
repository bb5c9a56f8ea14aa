// The memory of a fiber, and the steps of other threads on it. Waiting/Fibers.swift runs fibers.
//
// A fiber is a function with a stack of its own: the function of `vow_fiber`, or the run of a loop (Waiting/LoopFibers.swift).
// While it waits, it is off that stack's thread: its waiter is in the promise's queue like a waiting thread's, and the fiber's
// *step*, a record that an executor takes like a reaction, makes it go on. One piece of memory has the step's record and link,
// and behind them the `Fiber` and its `FiberRun`; the waiter is on the fiber's stack.
//
// The waiter's word says where the fiber is. The address is the fiber's:
//
//   address|6   on its stack: about to wait, or it looks again
//   address|7   suspended
//   nudged      it is to look again
//   done        the promise has settled
//
// The thread that has switched away from the fiber makes the step from 6 to 7: until then the stack is in use. The thread that
// takes the word from 7, by an exchange, alone hands the step over, as its last use of the fiber. A thread that finds another
// word hands nothing over, and does not use the fiber afterwards. The step from 6 to 7 releases what the fiber has written, and
// the exchange acquires it; the queue of the executor passes it on.
//
//   awaited, and waiter while that is set   the lock of the work's record; `awaited` is nil outside of a wait
//   references                          any thread: the work's record has one, and a fiber that has a stack another
//   all else                            the thread that the fiber is on

import CVow
import CVowPlatform

typealias FiberPointer = UnsafeMutablePointer<Fiber>

struct Fiber: ~Copyable {
    enum Leaving { case suspended, yields, rests, ended }

    /// Nil: the fiber runs a loop.
    let body: Handler?
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    let stackSize: Int
    /// Of the whole memory.
    let size: Int
    let references = AtomicWord(1)
    /// The promise of the fiber; its producer's reference keeps it until the function has returned. Nil: the fiber runs a loop.
    var work: RecordPointer?
    /// Nil: the fiber has not begun.
    var stack: UnsafeMutablePointer<vow_stack>?
    /// The promise that the function itself waits for, borrowed from it.
    var awaited: RecordPointer?
    /// The innermost wait on the stack.
    var waiter: RecordPointer?
    /// For a run of a loop: how much has run, and whether the run was suspended meanwhile.
    var ran = 0
    var wasSuspended = false
    /// The fiber is suspended, and has calls of the library on its stack that have their thread.
    var isPinned = false
    /// Neighbours in the loop's list of pinned fibers.
    var next: FiberPointer?
    var previous: FiberPointer?
    var leaving = Leaving.suspended
    /// The executor refuses the fiber: it runs inline, and each wait says why.
    var refusal: Passage?
    /// The chain of calls, while the fiber is off its stack.
    var kept = CallChain()
    var place: Place
    /// The frame of the function.
    var frame: UnsafeMutablePointer<Frame>?

    init(
        _ body: Handler?, _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?,
        stackSize: Int, size: Int
    ) {
        self.body = body
        self.context = context
        self.destroy = destroy
        self.stackSize = stackSize
        self.size = size
        place = Place(executor: ownExecutors.inline, outer: nil)
    }
}

private let fiberStart = (Shape.step.recordSize + 15) & ~15
/// From the beginning of the memory.
let fiberRunStart = fiberStart + (MemoryLayout<Fiber>.stride + 15) & ~15

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Fiber {
    /// - Parameter memory: its beginning.
    init(in memory: UnsafeMutableRawPointer) {
        self = (memory + fiberStart).assumingMemoryBound(to: Fiber.self)
    }

    init(ofStep step: RecordPointer) { self.init(in: UnsafeMutableRawPointer(step)) }

    var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) - fiberStart }
    var step: RecordPointer { memory.assumingMemoryBound(to: Record.self) }

    func release() {
        if pointee.references.subtractAcquireRelease(1) == 1 {
            giveMemoryBack(memory, pointee.size)
        }
    }

    /// The states of its waiter's word.
    var awake: UInt64 { word(of: self) | 6 }
    var suspended: UInt64 { word(of: self) | 7 }
}

/// Hands the step of a fiber to its executor, at the end of the thread's current step.
func handOver(step: RecordPointer, _ thread: ThreadPointer) {
    asOneStep(thread) { thread.pointee.agenda.handOver.append(step) }
}

/// The step that the thread which has taken a waiter's word has to hand over. Nil: the waiter was no suspended fiber's.
func suspendedStep(in word: UInt64) -> RecordPointer? {
    word & 7 == 7 ? FiberPointer(bitPattern: UInt(word & ~7))?.step : nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The step of a fiber that only the thread of its loop goes on with. The caller has the step.
    var isPinnedStep: Bool {
        pointee.shape == .step && FiberPointer(ofStep: self).pointee.isPinned
    }

    /// Makes the fiber of a waiter look again. Returns the step if the caller has to hand it over.
    func nudgeFiber() -> RecordPointer? {
        while true {
            let word = pointee.counts.loadRelaxed()
            if word & 6 != 6 { return nil }
            if pointee.counts.replaceAcquireRelease(word, Parking.nudged).exchanged {
                return suspendedStep(in: word)
            }
        }
    }
}

/// The handler of a fiber's work, which is never called.
func fiberBody(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    fatal("a fiber's function was called without a stack")
}

/// The `destroy` of a fiber's work, by which the work is known.
func endFiberContext(_ context: UnsafeMutableRawPointer?) {
    guard let fiber = context.map({ FiberPointer(in: $0) }) else { return }
    fiber.pointee.destroy?(fiber.pointee.context)
}

/// The same, for a context without a destructor.
func endNothing(_: UnsafeMutableRawPointer?) {}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The fiber of work, which the record keeps.
    var fiber: FiberPointer? {
        guard pointee.shape == .ofFiber, let destroy = extras.pointee.destroy,
            address(of: destroy) == address(of: endFiberContext)
                || address(of: destroy) == address(of: endNothing)
        else { return nil }
        return link.pointee.context.map { FiberPointer(in: $0) }
    }

    /// Makes the fiber of running work look again, if its function waits. Under the record's lock. Returns the step if the
    /// caller has to hand it over.
    func nudgeOwnFiber() -> RecordPointer? {
        guard let fiber, fiber.pointee.awaited != nil else { return nil }
        return fiber.pointee.waiter?.nudgeFiber()
    }

    /// The promise that a running fiber waits for. Under the record's lock.
    func awaitedByFiber(in word: StateWord) -> RecordPointer? {
        word.phase == .running || word.phase == .cancelled ? fiber?.pointee.awaited : nil
    }
}

// MARK: The chain of calls on a stack

/// The part of a thread's state that belongs to the calls on its stack, while another stack is in use.
struct CallChain {
    private var frame: UnsafeMutablePointer<Frame>?
    private var place: UnsafeMutablePointer<Place>?
    private var waiting: WaitingPointer?
    private var fiber: FiberPointer?
    private var surroundings = Surroundings()
    private var foreignDepth: Int32 = 0
    private var isSubmitting = false
    private var draining = Draining()
    #if VOW_CHECKED
        private var foreignPlace: UnsafeRawPointer?
    #endif

    /// The chain of a stack on which nothing has been called.
    init() {}

    init(of thread: ThreadPointer) {
        frame = thread.pointee.frame
        place = thread.pointee.place
        waiting = thread.pointee.waiting
        fiber = thread.pointee.fiber
        surroundings = Surroundings(context: thread.pointee.context, scope: thread.pointee.scope)
        foreignDepth = thread.pointee.foreignDepth
        isSubmitting = thread.pointee.isSubmitting
        draining = thread.pointee.agenda.draining
        #if VOW_CHECKED
            foreignPlace = thread.pointee.foreignPlace
        #endif
    }

    func restore(_ thread: ThreadPointer) {
        thread.pointee.frame = frame
        thread.pointee.place = place
        thread.pointee.waiting = waiting
        thread.pointee.fiber = fiber
        thread.pointee.context = surroundings.context
        thread.pointee.scope = surroundings.scope
        thread.pointee.foreignDepth = foreignDepth
        thread.pointee.isSubmitting = isSubmitting
        thread.pointee.agenda.draining = draining
        #if VOW_CHECKED
            thread.pointee.foreignPlace = foreignPlace
        #endif
    }
}
