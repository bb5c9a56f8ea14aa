// Tests the counted memory of values: where the parts lie, how large a box is, who has one.

import CVow
import XCTest

@testable import VowCore

final class BoxTests: CoreTest {
    func testSizesFollowFromTheContent() {
        let header = MemoryLayout<Box>.stride
        XCTAssertEqual(header, 16)
        func check(_ value: vow_value?, _ size: Int) {
            XCTAssertEqual(value!.box!.size, size)
            drop(value!)
        }
        check(makeString("seven", length: 5), header + 8 + 5 + 1)
        withClass { check(makeObject(nil, $0), header + 24) }
        check(makeList([vow_int(1), vow_int(2), vow_int(3)], count: 3), header + 8 + 3 * 16)
        check(
            makeError(domain: "test", code: 1, message: "why", payload: vow_none()),
            header + 56 + 4 + 1 + 3 + 1)
    }

    func testWhatABoxTakesItGivesBack() {
        for length in [0, 1, 15, 16, 17, 4096] {
            let bytes = [CChar](repeating: 0x61, count: length)
            var value = vow_none()
            let made = Cost.of { value = makeString(bytes, length: length)! }
            XCTAssertEqual(made.taken, UInt64(value.box!.size))
            let given = Cost.of { drop(value) }
            XCTAssertEqual(given.freed, made.taken)
        }
    }

    func testABoxBeginsWithOneReference() {
        let value = makeString("a", length: 1)!
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 1)
        XCTAssertEqual(value.box!.pointee.kind, VOW_STRING)
        XCTAssertFalse(value.box!.pointee.isImmortal)
        drop(value)
    }

    func testScalarsAndPromisesHaveNoBox() {
        let scalars = [
            vow_none(), vow_bool(true), vow_int(7), vow_double(7), vow_pointer(pointer(to: self)),
        ]
        for value in scalars {
            XCTAssertNil(value.box)
            XCTAssertNil(value.promise)
            XCTAssertFalse(value.isError)
        }
        let promise = openPromise()
        XCTAssertNil(asValue(promise).box)
        XCTAssertEqual(asValue(promise).promise, promise)
        resolveLast(promise, vow_none())
        drop(promise)
    }

    func testAKindBeyondTheLastHasNeitherBoxNorPromise() {
        for kind in [VOW_PROMISE + 1, 100, UInt32.max] {
            let value = vow_value(kind, pointer(to: self))
            XCTAssertNil(value.box)
            XCTAssertNil(value.promise)
        }
    }

    func testABoxIsFoundUnderItsOwnKindOnly() {
        let value = makeString("a", length: 1)!
        XCTAssertNotNil(value.box(of: VOW_STRING))
        for kind in [VOW_OBJECT, VOW_LIST, VOW_ERROR, VOW_PROMISE, VOW_NONE] {
            XCTAssertNil(value.box(of: kind))
        }
        drop(value)
    }

    func testACountedKindWithoutABoxIsHarmless() {
        for kind in [VOW_STRING, VOW_OBJECT, VOW_LIST, VOW_ERROR, VOW_PROMISE] {
            var value = vow_none()
            value.kind = kind
            XCTAssertNil(value.box)
            value.retained()
            drop(value)
        }
    }
}
