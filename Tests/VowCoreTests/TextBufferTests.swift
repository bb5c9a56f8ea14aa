// Tests writing text into too little memory: at every size, snprintf's answer and a NUL at the end.

import XCTest

@testable import VowCore

final class TextBufferTests: CoreTest {
    /// What a buffer of that size holds, up to the NUL, and the length that the text was said to have.
    /// Fails when a byte behind the buffer changed.
    private func written(_ size: Int, _ body: (inout TextBuffer) -> Void) -> (
        text: String, length: Int
    ) {
        var memory = [CChar](repeating: 0x7f, count: size + 8)
        let length = memory.withUnsafeMutableBufferPointer { memory in
            var text = TextBuffer(size == 0 ? nil : memory.baseAddress, capacity: size)
            body(&text)
            return text.length
        }
        XCTAssertTrue(memory[size...].allSatisfy { $0 == 0x7f }, "wrote behind \(size) bytes")
        if size == 0 { return ("", length) }
        let end = memory[..<size].firstIndex(of: 0)
        XCTAssertNotNil(end, "no NUL in \(size) bytes")
        return (String(decoding: memory[..<(end ?? 0)].map(UInt8.init), as: UTF8.self), length)
    }

    /// The whole text, and at every size its beginning.
    private func check(
        _ expected: String, file: StaticString = #filePath, line: UInt = #line,
        _ body: (inout TextBuffer) -> Void
    ) {
        for size in 0...expected.utf8.count + 3 {
            let (text, length) = written(size, body)
            let fitting = String(expected.prefix(max(0, size - 1)))
            XCTAssertEqual(text, fitting, "size \(size)", file: file, line: line)
            XCTAssertEqual(length, expected.utf8.count, "size \(size)", file: file, line: line)
        }
    }

    func testNothingIsAnEmptyString() { check("") { _ in } }

    func testBytesAreCutAtEverySize() {
        check("abcdef") { $0.append("abcdef", 6) }
    }

    func testSeveralPiecesAreCutAtEverySize() {
        check("one-twothree") { text in
            text.append("one")
            text.append("-")
            text.append("two", 3)
            text.append(nil, 0)
            text.append("three")
        }
    }

    func testNumbersAreWrittenInFull() {
        for number in [0, 1, -1, 9, 10, -10, 1_234_567_890, Int64.max, Int64.min] {
            check(String(number)) { $0.append(number) }
        }
    }

    func testRealNumbersAreWrittenSoThatTheyCanBeReadBack() {
        for real in [0.0, -0.0, 0.1, 1e300, -2.5, .pi, .leastNonzeroMagnitude] {
            let (text, _) = written(64) { $0.append(real) }
            XCTAssertEqual(Double(text)?.bitPattern, real.bitPattern, text)
        }
        check("inf") { $0.append(Double.infinity) }
        check("2.5") { $0.append(2.5) }
    }

    func testAddressesAreHexadecimal() {
        check("0x0") { $0.appendAddress(nil) }
        check("0xdeadbeef10") { $0.appendAddress(UnsafeRawPointer(bitPattern: 0xdead_beef_10)) }
        check("0xffffffffffffffff") { $0.appendAddress(UnsafeRawPointer(bitPattern: UInt.max)) }
    }

    private func printable(_ bytes: [UInt8], size: Int = 64, isCut: Bool = false) -> String {
        written(size) { text in
            bytes.withUnsafeBytes {
                text.appendPrintable(
                    $0.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count, isCut: isCut)
            }
        }.0
    }

    func testPrintableTextIsUTF8AsItIs() {
        for text in [
            "abc ~\\", "äöü", "\u{a0}\u{7ff}\u{800}\u{d7ff}\u{ffff}", "\u{10000}\u{10ffff}", "🙂",
        ] {
            XCTAssertEqual(printable(Array(text.utf8)), text)
        }
    }

    func testControlCharactersAndWhatIsNoUTF8AreEscaped() {
        XCTAssertEqual(
            printable([0x1b, 0x5b, 0x07, 0x0a, 0x0d, 0x09, 0x7f]), "\\x1b[\\x07\\x0a\\x0d\\x09\\x7f"
        )
        XCTAssertEqual(printable([0xc2, 0x9b, 0x41]), "\\xc2\\x9bA")
        XCTAssertEqual(printable([0x9b, 0x41]), "\\x9bA")
        XCTAssertEqual(printable([0xc0, 0x80]), "\\xc0\\x80")
        XCTAssertEqual(printable([0xe0, 0x80, 0x80]), "\\xe0\\x80\\x80")
        XCTAssertEqual(printable([0xed, 0xa0, 0x80]), "\\xed\\xa0\\x80")
        XCTAssertEqual(printable([0xf4, 0x90, 0x80, 0x80]), "\\xf4\\x90\\x80\\x80")
        XCTAssertEqual(printable([0xe2, 0x82]), "\\xe2\\x82")
    }

    func testNeitherACharacterNorAnEscapeIsCut() {
        for size in 1...7 {
            XCTAssertEqual(
                printable(Array("aé\u{20ac}".utf8), size: size),
                size < 2 ? "" : size < 4 ? "a" : size < 7 ? "aé" : "aé\u{20ac}")
            XCTAssertEqual(
                printable([0x61, 0x1b], size: size), size < 2 ? "" : size < 6 ? "a" : "a\\x1b")
        }
        XCTAssertEqual(printable([0x61, 0xe2, 0x82], isCut: true), "a")
    }

    func testTheTextReadBackIsWhatFits() {
        for size in 1...9 {
            var memory = [CChar](repeating: 0x7f, count: size)
            memory.withUnsafeMutableBufferPointer { memory in
                var text = TextBuffer(memory)
                text.append("abcdef")
                var seen: String?
                text.withText { bytes, count in
                    XCTAssertEqual(strlen(bytes), count)
                    seen = String(cString: bytes)
                }
                XCTAssertEqual(seen, String("abcdef".prefix(size - 1)))
            }
        }
        var called = false
        TextBuffer(nil, capacity: 0).withText { _, _ in called = true }
        XCTAssertFalse(called)
    }
}
