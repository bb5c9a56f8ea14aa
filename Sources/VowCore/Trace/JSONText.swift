// Text that stands in JSON and DOT: escaped, and valid UTF-8 whatever a program gives. What no document may have
// (U+FFFE and its like, which XML refuses) or a terminal would obey (controls) is not in it.

import CVowPlatform

extension TextBuffer {
    /// Between quotation marks.
    mutating func append(quoted text: UnsafePointer<CChar>, _ length: Int) {
        append("\"")
        text.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            var index = 0
            while index < length { index += appendEscaped(bytes + index, length - index) }
        }
        append("\"")
    }

    mutating func append(quoted text: UnsafePointer<CChar>) { append(quoted: text, strlen(text)) }

    /// As numbers beyond 2^53 would not survive a reader, and as traces write them.
    mutating func append(id: UInt64) {
        append("\"")
        appendAddress(UnsafeRawPointer(bitPattern: UInt(id)))
        append("\"")
    }

    /// Nanoseconds as microseconds with three decimals.
    mutating func append(microseconds nanoseconds: Int64) {
        append(nanoseconds / 1000)
        let rest = nanoseconds % 1000
        append(rest < 10 ? ".00" : rest < 100 ? ".0" : ".")
        append(rest)
    }

    /// From 0 to 1, with nine decimals at most; a number in JSON, whatever the program's locale has for a point.
    mutating func append(fraction: Double) {
        let billionths = Int64(fraction * 1_000_000_000 + 0.5)
        append(billionths / 1_000_000_000)
        var rest = billionths % 1_000_000_000
        if rest == 0 { return }
        append(".")
        var unit: Int64 = 100_000_000
        while rest > 0 {
            append(rest / unit)
            rest %= unit
            unit /= 10
        }
    }

    /// One character. Returns how many bytes it was.
    private mutating func appendEscaped(_ bytes: UnsafePointer<UInt8>, _ left: Int) -> Int {
        switch bytes[0] {
        case 0x22: append("\\\"")
        case 0x5c: append("\\\\")
        case 0x0a: append("\\n")
        case 0..<0x20, 0x7f: append(" ")
        case 0x20..<0x7f: appendBytes(bytes, 1)
        default:
            let length = lengthOfUTF8(bytes, left)
            if length == 0 {
                append("\u{fffd}")
                return 1
            }
            if bytes[0] == 0xc2 && bytes[1] < 0xa0 {
                append(" ")
            } else if isNoCharacter(bytes, length) {
                append("\u{fffd}")
            } else {
                appendBytes(bytes, length)
            }
            return length
        }
        return 1
    }

    private mutating func appendBytes(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        bytes.withMemoryRebound(to: CChar.self, capacity: count) { append($0, count) }
    }
}

/// Of the character that begins here, which is not ASCII; 0: it is none.
private func lengthOfUTF8(_ bytes: UnsafePointer<UInt8>, _ left: Int) -> Int {
    let first = bytes[0]
    let length =
        switch first {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 0
        }
    if length == 0 || length > left { return 0 }
    for index in 1..<length where bytes[index] & 0xc0 != 0x80 { return 0 }
    // Neither longer than need be, nor a half of a pair, nor beyond the last.
    switch (first, bytes[1]) {
    case (0xe0, ..<0xa0), (0xed, 0xa0...), (0xf0, ..<0x90), (0xf4, 0x90...): return 0
    default: return length
    }
}

/// U+FDD0 to U+FDEF, and the last two of each plane: set aside for ever.
private func isNoCharacter(_ bytes: UnsafePointer<UInt8>, _ length: Int) -> Bool {
    if length == 3 && bytes[0] == 0xef && bytes[1] == 0xb7 { return 0x90...0xaf ~= bytes[2] }
    if length < 3 || bytes[length - 1] < 0xbe || bytes[length - 2] != 0xbf { return false }
    return length == 3 ? bytes[0] == 0xef : bytes[1] & 0x0f == 0x0f
}
