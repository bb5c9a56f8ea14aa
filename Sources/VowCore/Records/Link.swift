// What a reaction adds to a record: its handler, its context, its executor; and what options and tokens add to those.

import CVow

/// What a reaction adds to a record. 72 bytes together.
struct LinkPart {
    /// See `lane`.
    private var laneStorage: UInt64 = 0
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    private var executorOrSource: UnsafeMutableRawPointer?

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
    /// is not needed any more, and lends its place.
    var withdrawnUpstream: RecordPointer? {
        get { handlerPlace.load(as: RecordPointer?.self) }
        nonmutating set { handlerPlace.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// Of a `finally` that waits for its handler's promise: the promise whose outcome is passed on, owned. In the same
    /// place.
    var outcome: RecordPointer? {
        get { withdrawnUpstream }
        nonmutating set { withdrawnUpstream = newValue }
    }

    /// Of a reaction that waits for what it follows though it is cancelled and others read that: the error that it is to be
    /// rejected with, owned. In the same place; marked by `RecordFlag.hasLeft`.
    var errorOfLeft: vow_value {
        get { vow_value(VOW_ERROR, handlerPlace.load(as: UnsafeMutableRawPointer.self)) }
        nonmutating set {
            handlerPlace.storeBytes(of: newValue.as.pointer, as: UnsafeMutableRawPointer?.self)
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
    /// The end of the scope that the reaction was made under; one producer's reference.
    var scope: RecordPointer?
    /// The context to run with; owned.
    var context: vow_value
}

extension TravelPart {
    init(token: SourcePointer?, _ surroundings: Surroundings) {
        registration = Registration(.reaction, token)
        scope = surroundings.scope
        context = surroundings.context
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a link, borrowed; nil: it carries nothing.
    var surroundings: Surroundings? {
        if !pointee.shape.isTravelling { return nil }
        return Surroundings(context: travel.pointee.context, scope: travel.pointee.scope)
    }
}

/// What reactions carry along.
struct Surroundings {
    /// Marked where there is a scope.
    var context = vow_none()
    /// The promise of its end.
    var scope: RecordPointer?

    /// In a context's reserved word, whose other bits say which Swift type a small value is of.
    static let scopeMark: UInt32 = 1 << 31
}
