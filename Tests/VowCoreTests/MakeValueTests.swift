// Tests the making of strings, objects, lists and errors, and of the library's own errors.

import CVow
import XCTest

@testable import VowCore

final class MakeValueTests: CoreTest {
    private func text(_ value: vow_value) -> String? {
        value.box(of: VOW_STRING).map { String(cString: $0.bytes) }
    }

    func testAStringIsACopyWithANulBehindIt() {
        var source: [CChar] = [0x61, 0x62, 0x63]
        let value = makeString(source, length: 3)!
        source[0] = 0x7a
        XCTAssertEqual(text(value), "abc")
        XCTAssertEqual(value.box!.part(StringPart.self).pointee.length, 3)
        XCTAssertEqual(value.box!.bytes[3], 0)
        drop(value)
    }

    func testAStringKeepsNulBytesInside() {
        let value = makeString([0x61, 0, 0x62], length: 3)!
        XCTAssertEqual(text(value), "a")
        XCTAssertEqual(value.box!.part(StringPart.self).pointee.length, 3)
        XCTAssertEqual(value.box!.bytes[2], 0x62)
        drop(value)
    }

    func testAnEmptyStringNeedsNoSource() {
        let value = makeString(nil, length: 0)!
        XCTAssertEqual(text(value), "")
        drop(value)
    }

    func testAbsurdSizesAreRefusedAndTakeNothing() {
        let cost = Cost.of {
            for length in [-1, Int.min, Int.max, Int.max - 1, Int.max - 24] {
                XCTAssertNil(makeString("", length: length))
            }
            for count in [-1, Int.min, Int.max, Int.max / 16, 1 << 60] {
                XCTAssertNil(makeList(nil, count: count))
            }
        }
        XCTAssertEqual(cost, Cost())
    }

    func testAnObjectRemembersPointerAndClass() {
        withClass { cls in
            let value = makeObject(pointer(to: self), cls)!
            let part = value.box!.part(ObjectPart.self).pointee
            XCTAssertEqual(part.pointer, pointer(to: self))
            XCTAssertEqual(part.cls, cls)
            XCTAssertNil(part.lender)
            drop(value)
        }
    }

    func testAListTakesItsItemsOver() {
        let item = makeString("item", length: 4)!
        let list = makeList([vow_int(1), item.retained(), vow_none()], count: 3)!
        XCTAssertEqual(list.box!.part(ListPart.self).pointee.count, 3)
        XCTAssertEqual(list.box!.items[0].as.integer, 1)
        XCTAssertEqual(list.box!.items[1].box, item.box)
        XCTAssertEqual(list.box!.items[2].kind, VOW_NONE)
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 2)
        drop(list)
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 1)
        drop(item)
    }

    func testAnEmptyListHasNoItems() {
        let list = makeList(nil, count: 0)!
        XCTAssertEqual(list.box!.part(ListPart.self).pointee.count, 0)
        XCTAssertEqual(list.box!.size, 24)
        drop(list)
    }

    func testAnErrorKeepsDomainCodeMessageAndPayload() {
        let payload = makeString("payload", length: 7)!
        for message in [nil, "", "m", "a longer message"] as [String?] {
            let error =
                message.map {
                    makeError(domain: "test", code: .min, message: $0, payload: payload.retained())
                }
                ?? makeError(domain: "test", code: .min, message: nil, payload: payload.retained())
            let box = error!.box!
            XCTAssertEqual(String(cString: box.domain), "test")
            XCTAssertEqual(String(cString: box.message), message ?? "")
            XCTAssertEqual(box.part(ErrorPart.self).pointee.code, .min)
            XCTAssertEqual(box.part(ErrorPart.self).pointee.payload.box, payload.box)
            drop(error!)
        }
        XCTAssertEqual(payload.box!.pointee.count.loadAcquire(), 1)
        drop(payload)
    }

    func testTheLibrarysOwnErrorsAreThereAndImmortal() {
        let own: [(vow_value, Int32)] = [
            (ownErrors.noMemory, VOW_ENOMEM), (ownErrors.forked, VOW_EFORKED),
            (ownErrors.broken, VOW_EBROKEN), (ownErrors.cycle, VOW_ECYCLE),
        ]
        for (error, wanted) in own {
            XCTAssertEqual(code(of: error), Int64(wanted))
            let box = error.box!
            XCTAssertEqual(String(cString: box.domain), "vow")
            XCTAssertFalse(String(cString: box.message).isEmpty)
            XCTAssertTrue(box.pointee.isImmortal)
            let cost = Cost.of {
                error.retained()
                for _ in 0..<5 { drop(error) }
            }
            XCTAssertEqual(cost, Cost())
            XCTAssertEqual(box.pointee.count.loadAcquire(), 1)
        }
        XCTAssertEqual(Set(own.map { $0.0.box! }).count, 4)
    }

    func testAnErrorMadeForTheOccasionBelongsToTheLibrary() {
        let error = makeOwnError(VOW_EREASON, "why", payload: vow_int(5))!
        XCTAssertEqual(String(cString: error.box!.domain), "vow")
        XCTAssertEqual(String(cString: error.box!.message), "why")
        XCTAssertEqual(code(of: error), Int64(VOW_EREASON))
        XCTAssertEqual(error.box!.part(ErrorPart.self).pointee.payload.as.integer, 5)
        XCTAssertFalse(error.box!.pointee.isImmortal)
        drop(error)
    }
}
