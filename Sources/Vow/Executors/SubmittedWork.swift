// Work as the core hands it to an executor of the program's own.

import CVow
import VowCore

/// One handler that is to be run, or refused, exactly once.
struct SubmittedWork: @unchecked Sendable {
    // Unchecked because of the pointer: the core gives it up, and any thread may run it, see vow.h.
    private let work: UnsafeMutableRawPointer
    private let run: @convention(c) (UnsafeMutableRawPointer) -> Void

    init(
        _ work: UnsafeMutableRawPointer,
        run: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
    ) {
        self.work = work
        self.run = run
    }

    func callAsFunction() { run(work) }

    /// The handler will not run; its promise is rejected with ``PromiseError/shutDown``.
    func refuse() { refuseWork(work) }
}
