// The part that a produced promise, one that the library settles, adds to its record: how its producer is stopped. The
// producer's own part follows. All fields are constant once another thread knows the promise.

import CVow

struct ProducerPart {
    /// Stops the work for a promise that is cancelled, or has no reader any more. No lock is held; must not call foreign code.
    let stop: (RecordPointer, ThreadPointer) -> Void
    private let sizeInWords: UInt32
    /// The offset of its `ObserverOwner` from the record, for a look ahead; 0: none.
    let owner: UInt16
    /// Its timer or watch is the process's, which a forked child does not have. Written by the maker.
    var isLeftWithParent = false
    let kind: TraceKind

    /// - Parameter size: the whole allocation, the record included.
    init(
        _ kind: TraceKind, size: Int, owner: Int = 0,
        stop: @escaping (RecordPointer, ThreadPointer) -> Void
    ) {
        self.kind = kind
        self.stop = stop
        sizeInWords = UInt32(size / 8)
        self.owner = UInt16(owner)
    }

    var size: Int { Int(sizeInWords) * 8 }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    var producer: UnsafeMutablePointer<ProducerPart> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size)
            .assumingMemoryBound(to: ProducerPart.self)
    }

    @inline(__always)
    var recordSize: Int {
        if pointee.shape.isProduced { return producer.pointee.size }
        let carried = pointee.flags.contains(RecordFlag.carries) ? CarriedContext.size : 0
        return pointee.shape.recordSize + carried
    }
}

var partStart: Int { MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size }

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The producer's own part of a produced promise.
    func part<Part>(_: Part.Type) -> UnsafeMutablePointer<Part> {
        (UnsafeMutableRawPointer(self) + partStart).assumingMemoryBound(to: Part.self)
    }

    /// The promise that a part belongs to.
    init<Part>(ofPart part: UnsafeMutablePointer<Part>) {
        self = (UnsafeMutableRawPointer(part) - partStart).assumingMemoryBound(to: Record.self)
    }
}
