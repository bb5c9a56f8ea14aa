// libdispatch sources that do the same work, of which one listens. Their work calls foreign code, which may take its time
// or wait for the very event that the source would bring: then the next source listens in its place.
//
// Everything is under a lock of the owner's.

import CVowPlatform

struct SourceRelay {
    /// So many may be held up at a time.
    private static let most = 32

    private let sources: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// A bit for each source whose work is running.
    private var busy: UInt32 = 0
    /// Whose turn it is, from the first on.
    private var turn = 0
    /// Gives a source of a number, or nil without memory.
    private let make: (Int) -> UnsafeMutableRawPointer?

    /// Takes memory from the front of `storage`, which it moves on.
    init(
        in storage: inout UnsafeMutableRawPointer,
        _ make: @escaping (Int) -> UnsafeMutableRawPointer?
    ) {
        sources = storage.bindMemory(
            to: UnsafeMutableRawPointer?.self, capacity: SourceRelay.most)
        sources.initialize(repeating: nil, count: SourceRelay.most)
        storage += SourceRelay.most * MemoryLayout<UnsafeMutableRawPointer?>.stride
        self.make = make
    }

    /// Whether there is a source at all, if only a busy one.
    var hasSource: Bool {
        mutating get {
            if sources[0] == nil { sources[0] = make(0) }
            return sources[0] != nil
        }
    }

    /// The source whose turn it is: the next idle one, if that one is busy. Nil: all are, or there is no memory.
    mutating func listener() -> UnsafeMutableRawPointer? {
        if isBusy(turn) || sources[turn] == nil {
            guard let next = (0..<SourceRelay.most).first(where: { !isBusy($0) }) else {
                return nil
            }
            if sources[next] == nil { sources[next] = make(next) }
            if sources[next] == nil { return nil }
            turn = next
        }
        return sources[turn]
    }

    /// Whether the source whose turn it is does its work.
    var isHeldUp: Bool { isBusy(turn) }

    private func isBusy(_ index: Int) -> Bool { busy & 1 << index != 0 }

    mutating func begin(_ index: Int) { busy |= 1 << index }

    /// Nil: it is its turn again. Else the source.
    mutating func end(_ index: Int) -> UnsafeMutableRawPointer? {
        busy &= ~(1 << index)
        return turn == index ? nil : sources[index]
    }

    /// The number of a source, which is its context.
    static func index(_ context: UnsafeMutableRawPointer?) -> Int { Int(bitPattern: context) }
}
