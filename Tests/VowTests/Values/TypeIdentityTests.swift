// Tests that a value is read as the type that it was, and as no other of its size.

import CVow
import XCTest

@testable import Vow

private enum Ten: Sendable { case a, b, c, d, e, f, g, h, i, j }
private enum Two: Sendable, Equatable { case yes, no }
private enum Level: Int, CRepresentable { case low = 1, high = 5 }
private struct Port: Sendable, Equatable { let number: UInt16 }
private struct Left { static func name() -> String { "left" } }
private struct Right { static func name() -> String { "right" } }

final class TypeIdentityTests: VowTest {
    func testAContextIsOfTheTypeThatWasSet() {
        PromiseContext.with(Ten.j) {
            XCTAssertNil(PromiseContext.current(as: Two.self))
            XCTAssertNil(PromiseContext.current(as: Port.self))
            XCTAssertNil(PromiseContext.current(as: Int.self))
            XCTAssertNil(PromiseContext.current(as: Double.self))
            XCTAssertEqual(PromiseContext.current(as: Ten.self), .j)
        }
        PromiseContext.with(5) {
            XCTAssertNil(PromiseContext.current(as: Two.self))
            XCTAssertEqual(PromiseContext.current(as: Int8.self), 5, "a number is a number")
        }
    }

    func testAContextUnderAScopeIsOfItsTypeToo() throws {
        let seen = Journal<String>()
        let end = PromiseScope.with { _ in
            PromiseContext.with(Ten.c) {
                Promise<Int, any Error>.value(1).map { number in
                    seen.write("\(PromiseContext.current(as: Two.self) as Any)")
                    if case .c? = PromiseContext.current(as: Ten.self) { seen.write("c") }
                    return number
                }
            }
        }
        try end.wait()
        XCTAssertEqual(seen.entries, ["nil", "c"])
    }

    func testAReasonIsOfTheTypeThatWasGiven() {
        let source = CancellationSource()
        source.cancel(reason: Ten.i)
        XCTAssertNil(source.token.reason(as: Two.self))
        XCTAssertEqual(source.token.reason(as: Ten.self), .i)
    }

    func testAMetatypeIsThatOfItsType() {
        PromiseContext.with(Left.self) {
            XCTAssertNil(PromiseContext.current(as: Right.Type.self))
            XCTAssertEqual(PromiseContext.current(as: Left.Type.self)?.name(), "left")
        }
    }

    func testANumberOfCIsNoEnumeration() {
        let promise = Promise<Two, any Error>(taking: vow_promise_with(vow_int(7)))
        guard case PromiseError.unexpectedValue? = failure(of: promise) as? PromiseError else {
            return XCTFail("\(promise)")
        }
        let pending = vow_int(1)
        XCTAssertNil(decode(pending, as: Port.self))
    }

    func testAnEnumerationWithRawValuesIsOneForCToo() {
        let cValue = encode(Level.high)
        XCTAssertEqual(cValue.as.integer, 5)
        XCTAssertEqual(decode(cValue, as: Level.self), .high)
        XCTAssertEqual(decode(vow_int(1), as: Level.self), .low)
        XCTAssertNil(decode(vow_int(2), as: Level.self))
    }

    func testUnsignedNumbersOfCAreRead() {
        XCTAssertEqual(decode(vow_int(3), as: UInt64.self), 3)
        XCTAssertNil(decode(vow_int(-1), as: UInt64.self))
        XCTAssertEqual(decode(encode(UInt.max), as: UInt.self), .max)
        XCTAssertNil(decode(encode(UInt64.max), as: Int64.self))
    }

    func testATypeKeepsItsNumberAndAFullTableGivesNone() {
        let table = TypeTable(capacity: 2)
        let (one, two) = (ObjectIdentifier(Ten.self), ObjectIdentifier(Two.self))
        let first = table.number(of: one)
        let second = table.number(of: two)
        XCTAssertNotNil(first)
        XCTAssertNotNil(second)
        XCTAssertNotEqual(first, second)
        XCTAssertEqual(table.number(of: one), first)
        XCTAssertNil(table.number(of: ObjectIdentifier(Port.self)))
        XCTAssertFalse(table.isNumber(first ?? 0, of: two))
        XCTAssertFalse(table.isNumber(3, of: one))
    }
}
