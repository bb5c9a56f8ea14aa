// The library as a whole: its memory, and its end.

import CVow

/// The library in this process.
public enum PromiseRuntime {
    /// The version of the library that runs.
    public static var version: (major: Int, minor: Int, patch: Int) {
        let version = vow_version()
        return (Int(version >> 16), Int(version >> 8 & 255), Int(version & 255))
    }

    /// The library's counts. Exact once the threads that use it rest; while they work, a moment's view.
    public static var statistics: Statistics {
        var counted = vow_statistics()
        counted.size = MemoryLayout<vow_statistics>.size
        vow_stats(&counted)
        return Statistics(
            created: counted.created, settled: counted.settled, live: counted.live,
            pending: counted.pending, handlers: counted.handlers, bytes: counted.bytes,
            spare: counted.spare, stacks: counted.stacks, deepestStack: counted.deepest)
    }

    /// Gives back the memory that the calling thread keeps of promises that it freed. A thread that sleeps in the
    /// library does so by itself; a thread that never does may call this after a burst.
    ///
    /// - Returns: the number of bytes.
    @discardableResult
    public static func trim() -> Int { vow_trim() }

    /// Whether the promise of the handler that runs on this thread was cancelled, so that its result has no reader: long
    /// work can end early. Outside of handlers: false.
    public static var isHandlerCancelled: Bool { vow_current_is_cancelled() }

    /// Ends the library's work in the process, for good: new work for pool and queues is refused with
    /// ``PromiseError/shutDown``; queued work is run, for at most this time, and then rejected.
    ///
    /// - Returns: the number of live promises.
    /// - Throws: ``PromiseError/deadlock`` on an executor of the library.
    @discardableResult
    public static func shutDown(timeout: Duration? = nil) throws -> Int {
        let answer = vow_shutdown(timeout.coreTimeout)
        switch answer {
        case Int64(VOW_EDEADLOCK): throw PromiseError.deadlock
        case ..<0: throw PromiseError.invalidArgument("shutDown: a negative time-out")
        default: return Int(answer)
        }
    }

    /// Counters of the whole process.
    public struct Statistics: Sendable, Equatable {
        /// Promises made.
        public let created: UInt64
        /// Promises that were fulfilled or rejected.
        public let settled: UInt64
        /// Promises not yet freed.
        public let live: UInt64
        /// Live promises that are not settled.
        public let pending: UInt64
        /// Reactions that wait for a promise or for their executor.
        public let handlers: UInt64
        /// Memory held by promises, values and executors.
        public let bytes: UInt64
        /// Memory of freed promises that threads keep for new ones; not among the bytes.
        public let spare: UInt64
        /// Stacks of fibers that have begun and not ended, and one or more of each loop.
        public let stacks: UInt64
        /// The most bytes that a fiber has used of its stack, as stacks that are kept for later show.
        public let deepestStack: UInt64
    }
}
