// What a promise of the library's own making adds to its record: how its producer is told to stop, and the producer's own
// part, right behind.

import CVow

/// What a promise of the library's own making adds to a record.
struct ProducerPart {
    /// Called when the promise was cancelled, or when nobody is left to read it, and it is still open: the work for it is
    /// to stop. No lock is held; it must not call foreign code.
    let stop: (RecordPointer, ThreadPointer) -> Void
    private let sizeInWords: UInt32
    /// Where its `ObserverOwner` stands, from the record on, for those who look what it waits for; 0: none to
    /// be looked at.
    let owner: UInt16
    /// Its timer or watch is the process's, which a forked child does not have. Written by the maker.
    var isLeftWithParent = false
    let kind: TraceKind

    /// - Parameter size: all that was allocated, the record included.
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

    /// How much memory it takes.
    @inline(__always)
    var recordSize: Int {
        if pointee.shape.isProduced { return producer.pointee.size }
        let carried = pointee.flags.contains(RecordFlag.carries) ? CarriedContext.size : 0
        return pointee.shape.recordSize + carried
    }
}

var partStart: Int { MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size }

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a produced promise: what its producer keeps.
    func part<Part>(_: Part.Type) -> UnsafeMutablePointer<Part> {
        (UnsafeMutableRawPointer(self) + partStart).assumingMemoryBound(to: Part.self)
    }

    /// The promise that a part belongs to.
    init<Part>(ofPart part: UnsafeMutablePointer<Part>) {
        self = (UnsafeMutableRawPointer(part) - partStart).assumingMemoryBound(to: Record.self)
    }
}
