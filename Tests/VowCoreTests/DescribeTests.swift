// Tests what a value is said to be.

import CVow
import XCTest

@testable import VowCore

final class DescribeTests: CoreTest {
    private func described(_ value: vow_value, size: Int = 4096) -> String {
        var memory = [CChar](repeating: 0, count: size)
        return memory.withUnsafeMutableBufferPointer { memory in
            var text = TextBuffer(memory)
            describe(value, into: &text)
            return String(cString: memory.baseAddress!)
        }
    }

    /// Consumes the value.
    private func check(
        _ value: vow_value, _ expected: String, file: StaticString = #filePath, line: UInt = #line
    ) {
        XCTAssertEqual(described(value), expected, file: file, line: line)
        drop(value)
    }

    private func string(_ text: String) -> vow_value { makeString(text, length: text.utf8.count)! }

    private func list(_ items: vow_value...) -> vow_value { makeList(items, count: items.count)! }

    func testScalars() {
        check(vow_none(), "none")
        check(vow_bool(true), "true")
        check(vow_bool(false), "false")
        check(vow_int(-12), "-12")
        check(vow_double(0.5), "0.5")
        check(vow_pointer(nil), "pointer 0x0")
        check(vow_pointer(UnsafeMutableRawPointer(bitPattern: 0xab)), "pointer 0xab")
    }

    func testStringsStandInQuotes() {
        check(string(""), "\"\"")
        check(string("héllo"), "\"héllo\"")
    }

    func testAnObjectIsNamedByItsClass() {
        withClass("socket") { cls in
            check(makeObject(UnsafeMutableRawPointer(bitPattern: 0x10), cls)!, "object socket 0x10")
        }
    }

    func testListsWriteTheirItems() {
        check(list(), "[]")
        check(list(vow_int(1)), "[1]")
        check(
            list(vow_int(1), list(vow_none(), string("a")), vow_bool(true)),
            "[1, [none, \"a\"], true]")
    }

    func testErrorsSayDomainCodeMessageAndPayload() {
        check(failure(7), "error test 7")
        check(
            makeError(domain: "net", code: -3, message: "refused", payload: vow_none())!,
            "error net -3: refused")
        check(
            makeError(domain: "net", code: 0, message: "refused", payload: list(vow_int(5)))!,
            "error net 0: refused [[5]]")
        check(
            makeOwnError(VOW_EREASON, "reason", payload: vow_int(5))!,
            "error vow -11 (VOW_EREASON): reason [5]")
    }

    func testDeepNestingEndsAsANumber() {
        var value = list(vow_int(1), vow_int(2))
        for _ in 0..<8 { value = list(value) }
        check(
            value, String(repeating: "[", count: 8) + "list of 2" + String(repeating: "]", count: 8)
        )
    }

    func testNestingOfAnyDepthIsDescribedWithConstantStack() {
        Worker(stack: 64 * 1024) {
            var value = failure(0)
            for code in 1...100_000 {
                value = makeError(domain: "d", code: Int64(code), message: nil, payload: value)!
            }
            let expected =
                (0...8).map { "error d \(100_000 - $0)" }.joined(separator: " [")
                + String(repeating: "]", count: 8)
            XCTAssertEqual(self.described(value), expected)
            drop(value)
        }.join()
    }

    func testAnUnknownKindIsNamedAsSuch() {
        check(vow_value(77, pointer(to: self)), "a value of an unknown kind")
    }

    func testEveryCodeHasItsName() {
        let names: [(Int32, String)] = [
            (VOW_EINVAL, "VOW_EINVAL"), (VOW_ENOMEM, "VOW_ENOMEM"), (VOW_EFORKED, "VOW_EFORKED"),
            (VOW_EBROKEN, "VOW_EBROKEN"), (VOW_ECYCLE, "VOW_ECYCLE"),
            (VOW_ECANCELLED, "VOW_ECANCELLED"), (VOW_ETIMEDOUT, "VOW_ETIMEDOUT"),
            (VOW_EDEADLOCK, "VOW_EDEADLOCK"), (VOW_EAGGREGATE, "VOW_EAGGREGATE"),
            (VOW_ESHUTDOWN, "VOW_ESHUTDOWN"), (VOW_EREASON, "VOW_EREASON"),
        ]
        for (code, name) in names { XCTAssertEqual("\(nameOfError(Int64(code)))", name) }
        for code in [0, 1, -12, Int64.max, Int64.min, Int64(VOW_EINVAL) + (1 << 32)] {
            XCTAssertEqual("\(nameOfError(code))", "unknown")
        }
    }

    func testTextIsCutAtEverySizeOfTheBuffer() {
        let value = list(string("abc"), failure(12))
        let whole = "[\"abc\", error test 12]"
        for size in 1...whole.count + 2 {
            XCTAssertEqual(described(value, size: size), String(whole.prefix(size - 1)))
        }
        drop(value)
    }
}
