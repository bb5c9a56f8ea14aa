// What of a history is not written yet: text in memory of a fixed size, so that a reader who is slow costs no more
// than that. All under the tracing's lock, or by the one thread that ends the history.

import CVowPlatform

struct TraceBuffer {
    static let size = 1 << 18
    private var memory: UnsafeMutablePointer<CChar>?
    private var first = 0
    private var end = 0

    var count: Int { end - first }
    var isEmpty: Bool { end == first }
    var room: Int { TraceBuffer.size - count }

    /// False without memory.
    mutating func open() -> Bool {
        removeAll()
        if memory == nil {
            memory = allocateMemory(TraceBuffer.size)?.bindMemory(
                to: CChar.self, capacity: TraceBuffer.size)
        }
        return memory != nil
    }

    mutating func free() {
        if let memory { freeMemory(memory, TraceBuffer.size) }
        memory = nil
        removeAll()
    }

    /// A place at the end for less than so many bytes; nil: there is no room.
    mutating func beginText(_ most: Int) -> TextBuffer? {
        guard let memory, most <= room else { return nil }
        if end + most > TraceBuffer.size {
            memmove(memory, memory + first, count)
            end -= first
            first = 0
        }
        return TextBuffer(memory + end, capacity: most)
    }

    /// Returns how many bytes were written there; 0: more than there was a place for, of which nothing stays.
    mutating func endText(_ text: TextBuffer) -> Int {
        if text.isCut { return 0 }
        end += text.length
        return text.length
    }

    /// Has body take some from the beginning: it returns how much.
    mutating func take(_ body: (UnsafePointer<CChar>, Int) -> Int) {
        guard let memory, !isEmpty else { return }
        first += body(memory + first, count)
        if first == end { removeAll() }
    }

    mutating func removeAll() {
        first = 0
        end = 0
    }

    /// How many events are in it, one of which only the end may be left. Each begins on a line of its own.
    var events: UInt64 {
        guard let memory, !isEmpty else { return 0 }
        var found: UInt64 = memory[first] == 0x0a ? 0 : 1
        for place in first..<(end - 1) where memory[place] == 0x0a && memory[place + 1] == 0x7b {
            found += 1
        }
        return found
    }
}

/// When to write: each event at once while there are few of them, so that a program that ends without a word leaves
/// all it has done; and once a millisecond when there are many.
struct TracePace {
    private static let most: Int64 = 256
    private static let interval: Int64 = 1_000_000
    private var left = TracePace.most
    private var counted: Int64 = 0

    mutating func allows(at now: Int64) -> Bool {
        let come = (now &- counted) / TracePace.interval
        if come > 0 {
            left = min(TracePace.most, left &+ come)
            counted = now
        }
        if left == 0 { return false }
        left -= 1
        return true
    }
}
