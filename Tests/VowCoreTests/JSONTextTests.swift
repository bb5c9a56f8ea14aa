// Tests text in JSON: every byte, and every pair and more of bytes that could be a character, against Foundation.

import Foundation
import XCTest

@testable import VowCore

final class JSONTextTests: CoreTest {
    private func written(_ body: (inout TextBuffer) -> Void) -> String {
        var memory = [CChar](repeating: 0, count: 4096)
        return memory.withUnsafeMutableBufferPointer { memory in
            var text = TextBuffer(memory)
            body(&text)
            var bytes: [UInt8] = []
            text.withText { start, count in
                bytes = UnsafeBufferPointer(start: start, count: count).map {
                    UInt8(bitPattern: $0)
                }
            }
            XCTAssertNotNil(String(validatingUTF8: bytes.map { CChar(bitPattern: $0) } + [0]))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func quoted(_ bytes: [UInt8]) -> String {
        bytes.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { buffer in
            var one: CChar = 0
            return written { text in
                withUnsafePointer(to: &one) {
                    text.append("\"")
                    text.append(escaped: buffer.baseAddress ?? $0, buffer.count)
                    text.append("\"")
                }
            }
        }
    }

    /// What a reader makes of it.
    private func read(_ json: String) -> String? {
        let whole = Data("[\(json)]".utf8)
        return (try? JSONSerialization.jsonObject(with: whole) as? [String])?.first
    }

    /// Control characters of ASCII but the line feed become spaces; each byte of another one, or of what is no UTF-8,
    /// becomes the replacement character.
    private func check(_ bytes: [UInt8], file: StaticString = #filePath, line: UInt = #line) {
        // A byte order mark, which Foundation leaves out.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return }
        let plain = bytes.map { ($0 < 0x20 && $0 != 0x0a) || $0 == 0x7f ? 0x20 : $0 }
        guard let text = read(quoted(bytes)) else {
            return XCTFail("no JSON for \(bytes)", file: file, line: line)
        }
        if let valid = String(validatingUTF8: plain.map { CChar(bitPattern: $0) } + [0]) {
            let shown = valid.unicodeScalars.map { scalar in
                (0x80..<0xa0).contains(scalar.value) ? "\u{fffd}\u{fffd}" : String(scalar)
            }
            XCTAssertEqual(text, shown.joined(), "\(bytes)", file: file, line: line)
        } else {
            XCTAssertTrue(
                text.unicodeScalars.contains("\u{fffd}"), "\(bytes)", file: file, line: line)
        }
    }

    func testEveryByteAloneAndBetweenOthers() {
        for byte in UInt8(1)...255 {
            check([byte])
            check([0x61, byte, 0x62])
        }
        XCTAssertEqual(quoted([]), "\"\"")
    }

    func testEveryPairOfBytes() {
        for first in UInt8(0x80)...255 {
            for second in UInt8(1)...255 { check([first, second]) }
        }
    }

    func testCharactersOfThreeAndFourBytesAtTheirBounds() {
        let edges: [UInt8] = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]
        let seconds = manyOf(0, full: 1) == 1 ? Array(UInt8(0x7f)...0xc0) : edges
        for first in UInt8(0xe0)...0xf8 {
            for second in seconds {
                for third in edges {
                    check([first, second, third])
                    for fourth in edges { check([first, second, third, fourth]) }
                }
            }
        }
    }
}
