// What a reaction adds to a record: its handler, its context, its executor; and what options and tokens add to those.

import CVow

/// What a reaction adds to a record. 72 bytes together.
struct LinkPart {
    /// See `lane`.
    private var laneStorage: UInt64 = 0
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    private var executorOrSource: UnsafeMutableRawPointer?

    /// Of a `finally` that waits for its handler's promise: the promise whose outcome is passed on. The
    /// context is gone by then and lends its place.
    var outcome: RecordPointer? {
        get { context?.assumingMemoryBound(to: Record.self) }
        set { context = UnsafeMutableRawPointer(newValue) }
    }

    init(handler: Handler?, context: UnsafeMutableRawPointer?, executor: ExecutorPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(executor)
    }

    /// Of an inline reaction.
    init(handler: Handler?, context: UnsafeMutableRawPointer?, source: RecordPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(source)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    var isInline: Bool { pointee.flags.contains(RecordFlag.isInline) }

    /// Nobody has to be asked before its handler runs: the thread that has it on its list reads nothing that a
    /// canceller writes.
    @inline(__always)
    var isBegunByRunning: Bool { isInline && !pointee.shape.isTravelling }

    /// Of a reaction that is not inline.
    @inline(__always)
    var executorElsewhere: ExecutorPointer? {
        executorOrSource.load(as: ExecutorPointer?.self)
    }

    /// Of an inline reaction: the promise that it reads, where no canceller writes while the reaction is on a
    /// thread's list. One with a token may be given something else to read: its `upstream` tells.
    @inline(__always)
    var source: RecordPointer? {
        get { executorOrSource.load(as: RecordPointer?.self) }
        nonmutating set { executorOrSource.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// Of a withdrawn reaction: the promise that it read, owned, until its executor has dropped it. The handler
    /// of one that is not inline is not needed any more, and lends its place.
    var withdrawnUpstream: RecordPointer? {
        get { isInline ? source : handlerPlace.load(as: RecordPointer?.self) }
        nonmutating set {
            if isInline {
                source = newValue
            } else {
                handlerPlace.storeBytes(of: newValue, as: RecordPointer?.self)
            }
        }
    }

    private var handlerPlace: UnsafeMutableRawPointer { linkField(1) }

    @inline(__always)
    private var executorOrSource: UnsafeMutableRawPointer { linkField(3) }

    @inline(__always)
    private func linkField(_ index: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size
            + index * MemoryLayout<UInt64>.size
    }
}

/// What `vow_then_with` adds.
struct LinkExtras {
    var onRejected: Handler?
    var destroy: Destroy?
    var label: UnsafePointer<CChar>?
}

/// What a token or a context adds to those.
struct TravelPart {
    /// Its token's list; the source is counted here until the reaction leaves it.
    var registration: Registration
    /// See `redirect`.
    private var redirectStorage: RecordPointer? = nil
    /// The context to run with; owned.
    var context: vow_value
}

extension TravelPart {
    init(token: SourcePointer?, context: vow_value) {
        registration = Registration(.reaction, token)
        self.context = context
    }
}

extension UnsafeMutablePointer where Pointee == TravelPart {
    /// The promise that it reads instead of its own, because its token was cancelled when its executor had
    /// it already; owned. Written and read under the reaction's lock, or by its claimer.
    var redirect: RecordPointer? {
        get { redirectAddress.load(as: RecordPointer?.self) }
        nonmutating set { redirectAddress.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    private var redirectAddress: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + MemoryLayout<Registration>.stride
    }
}
