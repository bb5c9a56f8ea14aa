// What the pool knows of a worker.

/// What a worker does, or was called to do.
enum Duty: Int {
    case reactions
    case drains
    case events
}

typealias WorkerPointer = UnsafeMutablePointer<Worker>

/// On the stack of its thread. All but the word under the pool's lock. To ThreadSanitizer, changing a field is an access to
/// the beginning of the struct: so the word does not stand there.
struct Worker: ~Copyable {
    /// Nil: it looks for work, or is idle.
    var duty: Duty?
    /// It is on its way.
    var isCalled = false
    var isIdle = false
    /// The waits inside its handlers: one may run a loop, and another one be inside of that.
    var waits = 0
    var nextIdle: WorkerPointer?
    /// Neighbours among all of them.
    var next: WorkerPointer?
    var previous: WorkerPointer?

    /// How often it has begun something, and what the keeper saw when it last looked.
    var begun: UInt64 = 0
    var begunBefore: UInt64 = 0
    let clock = ThreadClock.own
    var timeBefore: Int64 = 0

    /// What it sleeps on while it is idle.
    let word = AtomicWord(Parking.awake)

    init(_ duty: Duty?) {
        self.duty = duty
        isCalled = duty != nil
    }
}
