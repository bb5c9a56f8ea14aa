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
        if isIncomplete { return }
        guard capacity - length >= GrowingText.longest || grow(), let memory else {
            isIncomplete = true
            return
        }
        var text = TextBuffer(memory + length, capacity: GrowingText.longest)
        body(&text)
        text.withText { length += $1 }
    }

    private static let longest = 4096

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

    private mutating func grow() -> Bool {
        let larger = max(capacity * 2, 16384)
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
