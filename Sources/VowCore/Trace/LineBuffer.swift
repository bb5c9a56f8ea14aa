// Lines in the library's memory, on their way to a descriptor.

import CVowPlatform

struct LineBuffer {
    private var memory: UnsafeMutablePointer<CChar>?
    private var capacity = 0
    private(set) var count = 0
    private let limit: Int
    /// A line is missing, because there was no memory or no room for it.
    private(set) var isIncomplete = false

    /// Enough for two labels, a site and the text around them, whatever escapes they need.
    static let longestLine = 4096

    init(limit: Int = Int.max) { self.limit = limit }

    var isEmpty: Bool { count == 0 }

    /// The bytes that may be added before the limit.
    var room: Int { limit - count }

    /// A place for one line, or for a part of one; nil: the line is missing.
    @inline(never)
    mutating func begin() -> TextBuffer? {
        let needed = count + LineBuffer.longestLine
        if needed <= capacity || grow(to: needed) {
            return TextBuffer(memory, capacity: needed, length: count)
        }
        isIncomplete = true
        return nil
    }

    @inline(never)
    mutating func end(_ line: TextBuffer) {
        if line.isCut {
            isIncomplete = true
        } else {
            count = line.length
        }
    }

    @inline(__always)
    mutating func add(_ body: (inout TextBuffer) -> Void) {
        guard var line = begin() else { return }
        body(&line)
        end(line)
    }

    /// Takes memory for `needed` bytes at least.
    mutating func grow(to needed: Int) -> Bool {
        if needed > limit { return false }
        let larger = max(needed, capacity * 2)
        guard let new = allocateMemory(larger)?.bindMemory(to: CChar.self, capacity: larger) else {
            return false
        }
        if let memory {
            memcpy(new, memory, count)
            freeMemory(memory, capacity)
        }
        memory = new
        capacity = larger
        return true
    }

    /// Writes as much as the descriptor takes, from the beginning. Returns 0, or an errno; EAGAIN: no more now.
    mutating func write(to descriptor: Int32) -> Int32 {
        guard let memory, count > 0 else { return 0 }
        var error: Int32 = 0
        let written = vow_platform_write_some(descriptor, memory, count, &error)
        count -= written
        if count > 0 { memmove(memory, memory + written, count) }
        return error
    }

    /// The number of objects, each on a line of its own; the first may be a rest.
    var elements: UInt64 {
        guard let memory, count > 0 else { return 0 }
        var found: UInt64 = memory[0] == 0x0a ? 0 : 1
        for place in 1..<count where memory[place] == 0x7b && memory[place - 1] == 0x0a {
            found += 1
        }
        return found
    }

    func withText(_ body: (UnsafePointer<CChar>, Int) -> Void) {
        if let memory { body(memory, count) }
    }

    mutating func removeAll() { count = 0 }

    mutating func free() {
        if let memory { freeMemory(memory, capacity) }
        memory = nil
        capacity = 0
        count = 0
    }
}
