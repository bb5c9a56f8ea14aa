// Text for a terminal or a log: what is no printable text in UTF-8 is written as \xNN, byte by byte.

extension TextBuffer {
    /// Appends so much of it as fits without cutting a character or an escape.
    /// - Parameter isCut: its last character may not be whole, and is left out then.
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

/// How many bytes the character takes that begins with this one.
private func wantedLength(_ byte: CChar) -> Int {
    let first = UInt8(bitPattern: byte)
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
}

/// How many bytes the character takes that begins here; 0: it is a control character, or no UTF-8.
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
