// Writing text into memory of a fixed size, as snprintf does: the length counts what did not fit, too.

import CVowPlatform

struct TextBuffer {
    private let memory: UnsafeMutablePointer<CChar>?
    private let capacity: Int
    /// What the whole text needs, without the NUL.
    private(set) var length = 0

    /// The last byte is kept for the NUL.
    init(_ memory: UnsafeMutablePointer<CChar>?, capacity: Int) {
        self.memory = memory
        self.capacity = capacity
        memory?[0] = 0
    }

    /// Goes on behind so many bytes, which are there.
    init(_ memory: UnsafeMutablePointer<CChar>?, capacity: Int, length: Int) {
        self.memory = memory
        self.capacity = capacity
        self.length = length
    }

    init(_ buffer: UnsafeMutableBufferPointer<CChar>) {
        self.init(buffer.baseAddress, capacity: buffer.count)
    }

    mutating func append(_ bytes: UnsafePointer<CChar>?, _ count: Int) {
        if let bytes, let memory, length + 1 < capacity {
            let fitting = min(count, capacity - 1 - length)
            memcpy(memory + length, bytes, fitting)
            memory[length + fitting] = 0
        }
        length += count
    }

    @inline(never)
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { append($0.baseAddress, $0.count) }
        }
    }

    mutating func append(_ number: Int64) {
        if number < 0 { append("-") }
        appendDigits(number.magnitude, base: 10)
    }

    mutating func appendAddress(_ address: UnsafeRawPointer?) {
        append("0x")
        appendHexadecimal(UInt64(UInt(bitPattern: address)))
    }

    mutating func append(_ real: Double) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { digits in
            append(
                digits.baseAddress, Int(vow_platform_format_double(digits.baseAddress, 40, real)))
        }
    }

    mutating func appendHexadecimal(_ number: UInt64) { appendDigits(number, base: 16) }

    var isCut: Bool { length >= capacity }

    /// The last byte; 0: there is none, or the text is cut.
    var last: CChar {
        guard let memory, length > 0, !isCut else { return 0 }
        return memory[length - 1]
    }

    func hasRoom(for count: Int) -> Bool { length + count < capacity }

    func withText(_ body: (UnsafePointer<CChar>, Int) -> Void) {
        if let memory { body(memory, min(length, capacity - 1)) }
    }

    private mutating func appendDigits(_ number: UInt64, base: UInt64) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 20) { digits in
            var rest = number
            var start = digits.count
            repeat {
                start -= 1
                let digit = CChar(truncatingIfNeeded: rest % base)
                digits[start] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
                rest /= base
            } while rest != 0
            append(digits.baseAddress! + start, digits.count - start)
        }
    }
}
