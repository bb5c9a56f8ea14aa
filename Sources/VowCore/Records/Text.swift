// Writing text into memory of a fixed size, as snprintf does: `length` includes the text that did not fit. Text for a terminal
// or a log can do no harm there: bytes that are no printable UTF-8 are written as \xNN.

import CVowPlatform

struct TextBuffer {
    private let memory: UnsafeMutablePointer<CChar>?
    private let capacity: Int
    /// The size of the whole text, without the NUL.
    private(set) var length = 0

    /// The last byte is kept for the NUL.
    init(_ memory: UnsafeMutablePointer<CChar>?, capacity: Int) {
        self.memory = memory
        self.capacity = capacity
        memory?[0] = 0
    }

    /// Continues behind `length` bytes that are there.
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

// MARK: Printable text

extension TextBuffer {
    /// Appends as much as fits without cutting a character or an escape.
    /// - Parameter isCut: the last character may be incomplete, and is left out then.
    mutating func appendPrintable(_ bytes: UnsafePointer<CChar>, _ count: Int, isCut: Bool) {
        var index = 0
        while index < count {
            let length = printableLength(bytes + index, count - index)
            if isCut && wantedLength(bytes[index]) > count - index { return }
            if length > 0 {
                if !hasRoom(for: length) { return }
                append(bytes + index, length)
                index += length
            } else {
                if !hasRoom(for: 4) { return }
                appendEscaped(UInt8(bitPattern: bytes[index]))
                index += 1
            }
        }
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        append("\\x")
        if byte < 16 { append("0") }
        appendHexadecimal(UInt64(byte))
    }
}

/// The length of a character with this first byte.
private func wantedLength(_ byte: CChar) -> Int {
    let first = UInt8(bitPattern: byte)
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
}

/// The length of the character here; 0: a control character, or no UTF-8.
@inline(never)
func printableLength(_ bytes: UnsafePointer<CChar>, _ count: Int) -> Int {
    let first = UInt8(bitPattern: bytes[0])
    if first < 0x80 { return first >= 0x20 && first != 0x7f ? 1 : 0 }
    let length = wantedLength(bytes[0])
    if first < 0xc2 || first > 0xf4 || length > count { return 0 }
    for index in 1..<length where UInt8(bitPattern: bytes[index]) & 0xc0 != 0x80 { return 0 }
    let second = UInt8(bitPattern: bytes[1])
    switch first {
    case 0xc2: return second >= 0xa0 ? 2 : 0  // The control characters beyond ASCII.
    case 0xe0: return second >= 0xa0 ? 3 : 0
    case 0xed: return second < 0xa0 ? 3 : 0
    case 0xf0: return second >= 0x90 ? 4 : 0
    case 0xf4: return second < 0x90 ? 4 : 0
    default: return length
    }
}

/// Writes a text to standard error as one line, in one piece.
func writeLine(_ text: TextBuffer) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        // Room for the end of the line is kept.
        var line = TextBuffer(buffer.baseAddress, capacity: buffer.count - 1)
        text.withText { line.appendPrintable($0, $1, isCut: text.isCut) }
        var whole = TextBuffer(buffer.baseAddress, capacity: buffer.count, length: line.length)
        whole.append("\n")
        whole.withText { writeToStandardError($0, $1) }
    }
}
