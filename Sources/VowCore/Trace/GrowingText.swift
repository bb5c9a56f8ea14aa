// Text of any length, in memory of the library's.

import CVowPlatform

struct GrowingText {
    private var memory: UnsafeMutablePointer<CChar>?
    private var capacity = 0
    private var length = 0
    /// There was no memory for all of it.
    private(set) var isIncomplete = false

    /// One line, or what stands in one, of a few kilobytes.
    mutating func add(_ body: (inout TextBuffer) -> Void) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { line in
            var text = TextBuffer(line)
            body(&text)
            text.withText { append($0, $1) }
        }
    }

    func write(to descriptor: Int32) -> Bool {
        vow_platform_write(descriptor, memory, length) != 0
    }

    func withText(_ body: (UnsafePointer<CChar>, Int) -> Void) {
        if let memory { body(memory, length) }
    }

    mutating func free() {
        if let memory { freeMemory(memory, capacity) }
        memory = nil
    }

    private mutating func append(_ bytes: UnsafePointer<CChar>, _ count: Int) {
        if isIncomplete { return }
        if length + count > capacity && !grow(to: length + count) {
            isIncomplete = true
            return
        }
        guard let memory else { return }
        memcpy(memory + length, bytes, count)
        length += count
    }

    private mutating func grow(to needed: Int) -> Bool {
        let larger = max(needed, capacity * 2, 16384)
        guard let new = allocateMemory(larger)?.bindMemory(to: CChar.self, capacity: larger) else {
            return false
        }
        if let memory {
            memcpy(new, memory, length)
            freeMemory(memory, capacity)
        }
        memory = new
        capacity = larger
        return true
    }
}
