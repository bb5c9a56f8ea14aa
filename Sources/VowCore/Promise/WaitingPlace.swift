// Where a thread waits, and whether its wait can end: what waits for what is followed upstream until
// something is found that this very thread blocks, or could run itself.

import CVow
import CVowPlatform

/// What stands between a waiting thread and the promise it waits for.
enum Obstacle {
    /// Other threads' work, as far as one can see.
    case blocked
    /// Work that must run where this thread blocks.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// Work that was left in the parent process.
    case forked
}

/// Below this much free stack, a waiting thread runs nothing nested.
private let stackReserve = 128 * 1024

struct WaitingPlace: ~Copyable {
    /// In a handler on the pool.
    let isInPool: Bool
    /// The wait blocks a serial executor.
    private let blocksSerial: Bool
    /// The custom serial executor that the thread belongs to, outside of its handlers; owned.
    private let ambient: ExecutorPointer?
    private let blocksMain: Bool
    private let hasFrames: Bool

    init(_ thread: ThreadPointer) {
        var isInPool = false
        var blocksSerial = false
        var frame = thread.pointee.frame
        hasFrames = frame != nil
        while let current = frame {
            if let executor = current.pointee.executor {
                if executor.pointee.kind == .pool { isInPool = true }
                if executor.pointee.isSerial { blocksSerial = true }
            }
            frame = current.pointee.outer
        }
        blocksMain = isMainExecutorUsed.isSet && vow_platform_is_main_thread() != 0
        let ambient = ambientExecutor(thread)
        if let found = ambient, found.pointee.isSerial {
            self.ambient = found
        } else {
            ambient?.release(thread)
            self.ambient = nil
        }
        self.isInPool = isInPool
        self.blocksSerial = blocksSerial || blocksMain || self.ambient != nil
    }

    func leave(_ thread: ThreadPointer) { ambient?.release(thread) }

    /// Calls the body while those who may make this wait endless make the waiter look again. Announced
    /// before the body looks ahead, in the single order with their steps: one of the two sees the other.
    func beingWatched(by waiter: RecordPointer, _ body: () -> WaitResult) -> WaitResult {
        if !blocksSerial { return body() }
        var owner = BlockedOwner(waiter: waiter)
        return withUnsafeMutablePointer(to: &owner) { owner in
            addBlockedOwner(owner)
            defer { removeBlockedOwner(owner) }
            return body()
        }
    }

    /// Follows what the promise waits for.
    func lookAhead(from promise: RecordPointer, _ thread: ThreadPointer) -> Obstacle {
        if !hasFrames && !blocksSerial && !isForkedChild { return .blocked }
        promise.retain()
        var current = promise
        var pause = Backoff()
        while true {
            let word = current.pointee.state.read()
            if word.hasValue || isRunning(current, thread) { break }
            if isForkedChild && word.phase == .claimed && isLeftWithParent(current) {
                current.release(thread)
                return .forked
            }
            let upstream = current.retainedUpstream()
            let isReaction = word.phase == .open && current.pointee.shape.contains(.link)
            if isReaction {
                if isBlockedHere(current.link.pointee.executor, thread) {
                    upstream?.release(thread)
                    current.release(thread)
                    return .deadlock
                }
                if upstream?.pointee.state.read().hasValue ?? true {
                    upstream?.release(thread)
                    return whenReady(current, thread)
                }
            }
            guard let upstream else {
                current.release(thread)
                return .blocked
            }
            current.release(thread)
            current = upstream
            pause.wait()
        }
        let waitsForItself = isRunning(current, thread)
        current.release(thread)
        return waitsForItself ? .deadlock : .blocked
    }

    /// A reaction (consumed) that its executor has, and has perhaps not begun.
    private func whenReady(_ reaction: RecordPointer, _ thread: ThreadPointer) -> Obstacle {
        defer { reaction.release(thread) }
        // A child has no other thread that could free the executor meanwhile.
        if isForkedChild { return isLeftWithParent(reaction) ? .forked : .blocked }
        // The field does not change, and this executor is never freed.
        if reaction.link.pointee.executor == ownExecutors.pool, hasFrames, hasStackLeft(),
            takeFromPool(reaction)
        {
            return .runnable(reaction)
        }
        return .blocked
    }

    /// In a child such executors run nothing, so who claimed the reaction is a thread of the parent.
    private func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
        if !reaction.pointee.shape.contains(.link) { return false }
        switch reaction.link.pointee.executor?.pointee.kind {
        case .pool, .serial, .dispatch, .barrier: return true
        case .inline, .custom, nil: return false
        }
    }

    /// Whether the reaction's own handler is on this thread's stack.
    private func isRunning(_ reaction: RecordPointer, _ thread: ThreadPointer) -> Bool {
        anyFrame(thread) { $0.reaction == reaction }
    }

    /// Compares addresses only: a reaction that runs meanwhile may let go of its executor.
    private func isBlockedHere(_ executor: ExecutorPointer?, _ thread: ThreadPointer) -> Bool {
        guard let executor else { return false }
        if blocksMain && executor == ownExecutors.main { return true }
        if executor == ambient { return true }
        return anyFrame(thread) { $0.executor == executor && executor.pointee.isSerial }
    }

    private func anyFrame(_ thread: ThreadPointer, _ matches: (Frame) -> Bool) -> Bool {
        var frame = thread.pointee.frame
        while let current = frame {
            if matches(current.pointee) { return true }
            frame = current.pointee.outer
        }
        return false
    }

    func hasStackLeft() -> Bool {
        var here: UInt8 = 0
        return withUnsafePointer(to: &here) { vow_platform_stack_left($0) > stackReserve }
    }
}
