// Promises inside an event loop that the program has already.

import CVow

/// Runs handlers on the program's own thread, when the program says so.
///
/// A loop is a serial executor whose handlers run inside ``runOnce(timeout:)``, and a file descriptor that is readable
/// exactly while the loop has work; so it takes one source of `poll`, `epoll` or whatever loop the program has. The
/// thread that made a loop, and after that each thread that runs it, is the loop's thread until another thread runs it:
/// handlers attached there run on the loop, delays go by its clock, and blocking waits run it.
///
/// The last reference to a loop ends it: its queued work is rejected with ``PromiseError/shutDown``.
public final class PromiseLoop: Sendable {
    private let handle: Handle

    /// - Throws: ``PromiseError/outOfMemory``, also when there are no descriptors left.
    public convenience init() throws(PromiseError) { try self.init(owned: vow_loop_create()) }

    private init(owned loop: OpaquePointer?) throws(PromiseError) {
        guard let loop else { throw .outOfMemory }
        handle = Handle(loop, release: vow_loop_destroy)
    }

    /// A loop whose clock does not move by itself and is moved by ``advance(by:)``, for tests of programs that wait: an
    /// hour passes at once. While ``run(until:timeout:)`` and blocking waits find no work there, they move the clock to
    /// the next timer.
    public static func virtual() throws(PromiseError) -> PromiseLoop {
        try PromiseLoop(owned: vow_loop_create_virtual())
    }

    /// Runs handlers on this loop. The executor may outlive the loop, and then refuses its work.
    public var executor: PromiseExecutor {
        handle.withPointer { PromiseExecutor(borrowed: vow_loop_executor($0)!) }
    }

    /// To be watched for input only; level-triggered.
    public var fileDescriptor: Int32 { handle.withPointer { vow_loop_fd($0) } }

    /// Makes a ``runOnce(timeout:)`` that waits, or else the next one, return. From any thread and from signal
    /// handlers.
    public func wake() { handle.withPointer { vow_loop_wake($0) } }

    /// Waits until there is work, and runs it: timers that are due, handlers, and later work for the loop, up to a bound
    /// that keeps the program's own loop alive.
    ///
    /// - Parameter timeout: the longest wait; zero: no wait; nil: no limit.
    /// - Returns: the number of handlers and timers that ran; 0 when the time was up or ``wake()`` was called.
    /// - Throws: ``PromiseError/invalidArgument(_:)`` when another thread is running the loop or the time-out is
    ///   negative, ``PromiseError/deadlock`` so deep inside handlers that no stack is left, ``PromiseError/forked`` in a
    ///   child.
    @available(*, noasync, message: "it blocks the thread")
    @discardableResult
    public func runOnce(timeout: Duration? = nil) throws(PromiseError) -> Int {
        if !MainLane.isToBeServed { return try runOnce(timeout.coreTimeout) }
        var (ran, inLoop) = (0, Result<Int, PromiseError>.success(0))
        MainLane.ringing({ self.wake() }) {
            ran = MainLane.drain()
            do throws(PromiseError) {
                inLoop = .success(try runOnce(ran > 0 ? 0 : timeout.coreTimeout))
            } catch { inLoop = .failure(error) }
            ran += MainLane.drain()
        }
        return ran + (try inLoop.get())
    }

    /// Moves the clock of a virtual loop on, running timers and handlers in order of time.
    ///
    /// - Returns: how many ran.
    /// - Throws: as ``runOnce(timeout:)``; also ``PromiseError/invalidArgument(_:)`` when the loop is no virtual one.
    @available(*, noasync, message: "it runs handlers on this thread")
    @discardableResult
    public func advance(by duration: Duration) throws(PromiseError) -> Int {
        let ran = MainLane.isToBeServed ? MainLane.drain() : 0
        let advanced = try count(
            handle.withPointer { vow_loop_advance($0, duration.wholeNanoseconds) }, "advance")
        return ran + advanced + (MainLane.isToBeServed ? MainLane.drain() : 0)
    }

    private func runOnce(_ nanoseconds: Int64) throws(PromiseError) -> Int {
        try count(handle.withPointer { vow_loop_run_once($0, nanoseconds) }, "runOnce")
    }

    /// Runs the loop until a promise is settled.
    ///
    /// A fiber of the loop is suspended until then.
    ///
    /// - Throws: its failure; ``PromiseError/timedOut(lastError:)`` when the time is up; in a fiber as
    ///   ``Promise/wait(timeout:)``; else as ``runOnce(timeout:)``.
    @available(*, noasync, message: "it blocks the thread")
    @discardableResult
    public func run<Success, Failure>(
        until promise: Promise<Success, Failure>, timeout: Duration? = nil
    ) throws -> Success {
        let answer = handle.withPointer { loop in
            let rest = promise.servingMainActor(timeout.coreTimeout, running: loop) {
                vow_loop_run_until(loop, $0, $1)
            }
            return promise.withPointer { vow_loop_run_until(loop, $0, rest) }
        }
        if answer == Int32(VOW_PENDING) { throw PromiseError.timedOut }
        _ = try count(answer, "run")
        guard let result = (promise.retyped() as Promise<Success, any Error>).result else {
            // The wait was a fiber's, which was cancelled.
            throw CancellationError()
        }
        return try result.get()
    }

    private func count(_ answer: Int32, _ function: String) throws(PromiseError) -> Int {
        switch answer {
        case VOW_EDEADLOCK: throw .deadlock
        case VOW_EFORKED: throw .forked
        case VOW_ESHUTDOWN: throw .shutDown
        case VOW_ECYCLE: throw .cycle
        case VOW_ENOMEM: throw .outOfMemory
        case ..<0:
            throw .invalidArgument(
                "PromiseLoop.\(function): a negative time, a loop that another thread is running, "
                    + "or no virtual one")
        default: return Int(answer)
        }
    }
}
