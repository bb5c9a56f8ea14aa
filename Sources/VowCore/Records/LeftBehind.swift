// What a thread of the parent was in the middle of when this process was forked: nobody will end it here.

import CVow

/// How long a step may take before it is taken for one of the parent's, in nanoseconds. Those of the child's own threads
/// take a few instructions.
private let patience: Int64 = 100_000_000

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// In a forked child: the promise or observer is locked or claimed, and stays so.
    var isLeftInStep: Bool { isForkedChild && pointee.state.read().isInStep && staysInStep }

    private var staysInStep: Bool {
        let word = pointee.state.read()
        let deadline = Deadline.after(patience)
        var pause = Backoff()
        while word.isInStep && pointee.state.read().bits == word.bits {
            if deadline.hasPassed { return true }
            pause.wait()
        }
        return false
    }
}

extension StateWord {
    fileprivate var isInStep: Bool { isLocked || phase == .claimed }
}
