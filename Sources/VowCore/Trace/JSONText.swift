// Text in JSON, and in DOT, whose strings have the same escapes: objects field by field, in valid UTF-8 whatever a
// program gives, and without control characters, which a terminal would obey.

import CVowPlatform

/// The program's texts are cut at this many bytes.
let longestText = 511

extension TextBuffer {
    /// Begins an object on a line of its own, the next one of a list.
    @inline(never)
    mutating func beginElement() { append(last == 0x5b ? "\n{" : ",\n{") }

    /// The key of the next field of an object.
    @inline(never)
    mutating func key(_ key: StaticString) {
        append(last == 0x7b ? "\"" : ",\"")
        append(key)
        append("\":")
    }

    @inline(never)
    mutating func field(_ key: StaticString, number: Int64) {
        self.key(key)
        append(number)
    }

    @inline(never)
    mutating func field(_ key: StaticString, _ word: StaticString) {
        self.key(key)
        append("\"")
        append(word)
        append("\"")
    }

    /// Nil: the object has no such field.
    @inline(never)
    mutating func field(_ key: StaticString, text: UnsafePointer<CChar>?) {
        guard let text else { return }
        self.key(key)
        append("\"")
        append(escaped: text)
        append("\"")
    }

    /// A number of units, 10 to the power of `decimals` of which are 1. With a point, whatever the locale has.
    @inline(never)
    mutating func field(_ key: StaticString, id: UInt64) {
        if id == 0 { return }
        self.key(key)
        append(id: id)
    }

    @inline(never)
    mutating func append(id: UInt64) {
        append("\"0x")
        appendHexadecimal(id)
        append("\"")
    }

    /// A number of which 10 to the power of `decimals` are one, whatever the locale has for a point.
    @inline(never)
    mutating func append(_ number: Int64, decimals: Int) {
        var unit: Int64 = 1
        for _ in 0..<decimals { unit &*= 10 }
        append(number / unit)
        append(".")
        let rest = number % unit
        unit /= 10
        while unit > 1 && unit > rest {
            append("0")
            unit /= 10
        }
        append(rest)
    }

    @inline(never)
    mutating func append(escaped text: UnsafePointer<CChar>) {
        append(escaped: text, strnlen(text, longestText))
    }

    @inline(never)
    mutating func append(escaped text: UnsafePointer<CChar>, _ count: Int) {
        var index = 0
        while index < count {
            let length = printableLength(text + index, count - index)
            switch text[index] {
            case 0x22: append("\\\"")
            case 0x5c: append("\\\\")
            case 0x0a: append("\\n")
            case _ where length > 0: append(text + index, length)
            case 0...0x7f: append(" ")
            default: append("\u{fffd}")
            }
            index += max(length, 1)
        }
    }
}
