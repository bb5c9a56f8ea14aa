// Tests how Swift values and errors become C's and come back: Values/ and Errors/.

import CVow
import XCTest

@testable import Vow

private struct Pair: Sendable, Equatable { let left: Int32; let right: Int32 }
private struct Large: Sendable, Equatable { let a: Int, b: Int, c: Int, text: String }
private enum Small: Sendable { case one, two, three }
private struct Wide: Sendable, Equatable { let vector: SIMD8<Float> }
private struct Wider: Sendable, Equatable { let vector: SIMD16<Double> }

final class CodingTests: VowTest {
    private func encoded<Value>(_ value: Value, _ body: (vow_value) -> Void) {
        let cValue = encode(value)
        body(cValue)
        vow_value_release(cValue)
    }

    private func comesBack<Value: Equatable>(
        _ value: Value, as kind: vow_kind, line: UInt = #line
    ) {
        encoded(value) {
            XCTAssertEqual($0.kind, kind, line: line)
            XCTAssertEqual(decode($0, as: Value.self), value, line: line)
        }
    }

    func testSmallValuesTravelUnboxed() {
        let before = PromiseRuntime.statistics.bytes
        let values = [
            encode(5), encode(true), encode(2.5), encode(()), encode(Small.two),
            encode(Pair(left: 1, right: -1)), encode(UInt64.max),
        ]
        XCTAssertEqual(PromiseRuntime.statistics.bytes, before)
        for value in values { vow_value_release(value) }
    }

    func testEachTypeIsOfItsKindAndComesBack() {
        comesBack(5, as: VOW_INT)
        comesBack(Int8(-5), as: VOW_INT)
        comesBack(UInt64.max, as: VOW_INT)
        comesBack(true, as: VOW_BOOL)
        comesBack(2.5, as: VOW_DOUBLE)
        comesBack(Float(2.5), as: VOW_DOUBLE)
        comesBack("grüß\0dich", as: VOW_STRING)
        comesBack("", as: VOW_STRING)
        comesBack([1, 2, 3], as: VOW_LIST)
        comesBack(["a", "b"], as: VOW_LIST)
        comesBack([[1], []], as: VOW_LIST)
        comesBack(Int?.none, as: VOW_NONE)
        comesBack(Int?.some(4), as: VOW_INT)
        comesBack(Int??.some(.none), as: VOW_OBJECT)
        comesBack(Int??.none, as: VOW_NONE)
        comesBack(Int??.some(4), as: VOW_INT)
        comesBack([1, nil, 3], as: VOW_LIST)
        comesBack(Small.three, as: VOW_INT)
        comesBack(Pair(left: 1, right: -2), as: VOW_INT)
        comesBack(Large(a: 1, b: 2, c: 3, text: "x"), as: VOW_OBJECT)
        comesBack([Pair(left: 1, right: 2)], as: VOW_OBJECT)
        comesBack(["key": 1], as: VOW_OBJECT)
        comesBack(Wide(vector: .init(repeating: 2)), as: VOW_OBJECT)
        comesBack(Wider(vector: .init(repeating: 3)), as: VOW_OBJECT)
    }

    func testAnErrorAsAValueStaysAValue() throws {
        let promise = Promise<any Error, Never>.value(TestError.one)
        XCTAssertEqual(promise.state, .fulfilled)
        XCTAssertEqual(try promise.wait() as? TestError, .one)
    }

    func testATupleIsOneValue() throws {
        let promise = Promise<(Int, String, Bool), any Error>.value((1, "a", true))
        let text = promise.map { number, text, isTrue in "\(number)\(text)\(isTrue)" }
        XCTAssertEqual(try text.wait(), "1atrue")
    }

    func testALargeValueIsHeldInOneBoxAndFreedOnce() {
        let living = Tracker.living
        let before = PromiseRuntime.statistics.bytes
        do {
            let value = encode([Tracker()])
            XCTAssertEqual(Tracker.living, living + 1)
            vow_value_retain(value)
            vow_value_release(value)
            XCTAssertEqual(Tracker.living, living + 1)
            vow_value_release(value)
        }
        XCTAssertEqual(Tracker.living, living)
        XCTAssertEqual(PromiseRuntime.statistics.bytes, before)
    }

    func testAValueOfAnotherKindIsNoValueOfTheType() {
        encoded("text") { XCTAssertNil(decode($0, as: Int.self)) }
        encoded(300) { XCTAssertNil(decode($0, as: UInt8.self)) }
        encoded(5) { XCTAssertNil(decode($0, as: Large.self)) }
        encoded(Large(a: 1, b: 2, c: 3, text: "")) { XCTAssertNil(decode($0, as: [Int].self)) }
        encoded([1]) { XCTAssertNil(decode($0, as: [String].self)) }
    }

    func testAnErrorComesBackAsItself() {
        for error: any Error in [
            TestError.two, PromiseError.noSuchElement, CError(domain: "d", code: 7, message: "m"),
            CancellationError(), PromiseError.broken, PromiseError.invalidArgument("x"),
        ] {
            let cValue = encodeError(error)
            XCTAssertEqual("\(decodeError(cValue))", "\(error)")
            XCTAssertTrue(type(of: decodeError(cValue)) == type(of: error))
            vow_value_release(cValue)
        }
    }

    func testCReadsDomainCodeAndMessageOfASwiftError() {
        let cValue = encodeError(TestError.three)
        XCTAssertEqual(String(cString: vow_error_domain(cValue)!), "VowTestSupport.TestError")
        XCTAssertEqual(vow_error_code(cValue), 2)
        XCTAssertEqual(String(cString: vow_error_message(cValue)!), "three")
        vow_value_release(cValue)
    }

    func testAnErrorOfCKeepsItsParts() {
        let payload = vow_string("why", 3)
        let cValue = vow_error_wrap("app", 42, "no", payload)
        let error = decodeError(cValue) as? CError
        XCTAssertEqual(error?.domain, "app")
        XCTAssertEqual(error?.code, 42)
        XCTAssertEqual(error?.message, "no")
        XCTAssertEqual(error?.payload?.string, "why")
        let back = encodeError(error!)
        XCTAssertEqual(back.as.pointer, cValue.as.pointer)
        vow_value_release(back)
        vow_value_release(cValue)
    }

    func testACValueShowsWhatItIs() {
        let list = CValue(taking: encode(["a", "b"]))
        XCTAssertEqual(list.list?.map(\.string), ["a", "b"])
        XCTAssertNil(list.int)
        XCTAssertEqual(CValue(taking: vow_int(3)).int, 3)
        XCTAssertEqual(CValue(taking: vow_bool(true)).bool, true)
        XCTAssertEqual(CValue(taking: vow_double(0.5)).double, 0.5)
        XCTAssertEqual("\(list)", "[\"a\", \"b\"]")
    }
}
