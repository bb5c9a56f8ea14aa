// Tests chapter 1 of vow.h as a Swift program sees it: values.

import CVow
import XCTest

/// What a class of objects counts.
private final class Thing {
    let destroyed: Counter
    init(_ destroyed: Counter) { self.destroyed = destroyed }
}

private func destroyThing(_ pointer: UnsafeMutableRawPointer?) {
    Unmanaged<Thing>.fromOpaque(pointer!).takeRetainedValue().destroyed.add()
}

/// A class of objects for as long as the body runs.
func withClass(
    destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil,
    subscribe: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer) -> Bool)? = nil,
    size: Int = MemoryLayout<vow_class>.size, _ body: (UnsafePointer<vow_class>) -> Void
) {
    "thing".withCString { name in
        var cls = vow_class(size: size, name: name, destroy: destroy, subscribe: subscribe)
        withUnsafePointer(to: &cls, body)
    }
}

final class ValuesTests: CTest {
    private func text(_ value: vow_value) -> String? {
        vow_string_bytes(value, nil).map { String(cString: $0) }
    }

    private func isInvalid(_ value: vow_value, _ message: String) -> Bool {
        defer { vow_value_release(value) }
        return vow_error_code(value) == Int64(VOW_EINVAL)
            && vow_error_message(value).map { String(cString: $0) } == message
    }

    func testAValueTravelsInSixteenBytes() {
        XCTAssertEqual(MemoryLayout<vow_value>.size, 16)
        XCTAssertEqual(MemoryLayout<vow_value>.alignment, 8)
    }

    func testScalarsCarryTheirContent() {
        XCTAssertEqual(vow_none().kind, VOW_NONE)
        XCTAssertEqual(vow_bool(true).kind, VOW_BOOL)
        XCTAssertTrue(vow_bool(true).as.boolean)
        XCTAssertFalse(vow_bool(false).as.boolean)
        XCTAssertEqual(vow_int(.min).as.integer, .min)
        XCTAssertEqual(vow_double(-0.5).as.real, -0.5)
        XCTAssertEqual(vow_pointer(pointer(to: self)).as.pointer, pointer(to: self))
        XCTAssertNil(vow_pointer(nil).as.pointer)
        for value in [vow_none(), vow_bool(true), vow_int(1), vow_double(1), vow_pointer(nil)] {
            XCTAssertEqual(value.reserved, 0)
            vow_value_release(vow_value_retain(value))
            vow_value_release(value)
        }
    }

    func testACheckedReaderSaysWhetherAValueIsOfItsKind() {
        var (integer, real, flag) = (Int64(7), 0.25, false)
        XCTAssertTrue(vow_as_int(vow_int(-3), &integer))
        XCTAssertEqual(integer, -3)
        XCTAssertFalse(vow_as_int(vow_double(1), &integer))
        XCTAssertEqual(integer, -3)
        XCTAssertTrue(vow_as_int(vow_int(1), nil))
        XCTAssertTrue(vow_as_double(vow_double(2.5), &real))
        XCTAssertFalse(vow_as_double(vow_int(9), &real))
        XCTAssertEqual(real, 2.5)
        XCTAssertTrue(vow_as_bool(vow_bool(true), &flag))
        XCTAssertFalse(vow_as_bool(vow_int(0), &flag))
        XCTAssertTrue(flag)
        var place: UnsafeMutableRawPointer?
        XCTAssertTrue(vow_as_pointer(vow_pointer(pointer(to: self)), &place))
        XCTAssertFalse(vow_as_pointer(vow_none(), &place))
        XCTAssertEqual(place, pointer(to: self))
    }

    func testACheckedReaderGivesWhatACountedValueHolds() {
        let string = vow_string("two", 3)
        let list = vow_list([vow_int(1), vow_int(2)], 2)
        let error = vow_error("test", 5, nil)
        let promise = vow_from_promise(vow_promise_with(vow_int(4)))
        defer { for value in [string, list, error, promise] { vow_value_release(value) } }
        var bytes: UnsafePointer<CChar>?
        var (length, count, code) = (0, 0, Int64(0))
        XCTAssertTrue(vow_as_string(string, &bytes, &length))
        XCTAssertEqual(bytes.map { String(cString: $0) }, "two")
        XCTAssertEqual(length, 3)
        XCTAssertTrue(vow_as_list(list, &count))
        XCTAssertEqual(count, 2)
        XCTAssertTrue(vow_as_error(error, nil, &code))
        XCTAssertEqual(code, 5)
        XCTAssertFalse(vow_as_object(string, nil, nil))
        var read: OpaquePointer?
        XCTAssertFalse(vow_as_promise(list, &read))
        XCTAssertTrue(vow_as_promise(promise, &read))
        XCTAssertEqual(vow_promise_state(read!), VOW_FULFILLED)
    }

    func testAStringIsACopyOfItsBytes() {
        var length = 99
        let whole = vow_string("héllo", Int(bitPattern: SIZE_MAX))
        XCTAssertEqual(text(whole), "héllo")
        XCTAssertEqual(vow_string_bytes(whole, &length).map { strlen($0) }, 6)
        XCTAssertEqual(length, 6)
        let part = vow_string("héllo", 1)
        XCTAssertEqual(text(part), "h")
        let empty = vow_string(nil, 0)
        XCTAssertEqual(text(empty), "")
        XCTAssertEqual(length, 6)
        _ = vow_string_bytes(empty, &length)
        XCTAssertEqual(length, 0)
        for value in [whole, part, empty] { vow_value_release(value) }
    }

    func testWrongArgumentsGiveAnErrorThatNamesThem() {
        XCTAssertTrue(isInvalid(vow_string(nil, 3), "vow_string: utf8 is NULL"))
        XCTAssertTrue(isInvalid(vow_list(nil, 3), "vow_list: items is NULL"))
        withClass(size: 8) {
            XCTAssertTrue(
                isInvalid(vow_object(nil, $0), "vow_object: cls->size is not the size of vow_class")
            )
        }
        let huge = vow_string("x", Int.max)
        XCTAssertEqual(vow_error_code(huge), Int64(VOW_ENOMEM))
        vow_value_release(huge)
    }

    func testAnObjectIsFoundUnderItsClassAndDestroyedOnce() {
        let destroyed = Counter()
        withClass(destroy: destroyThing) { cls in
            withClass { other in
                let pointer = Unmanaged.passRetained(Thing(destroyed)).toOpaque()
                let object = vow_object(pointer, cls)
                XCTAssertEqual(vow_object_pointer(object, cls), pointer)
                XCTAssertEqual(vow_object_pointer(object, nil), pointer)
                XCTAssertNil(vow_object_pointer(object, other))
                vow_value_release(vow_value_retain(object))
                XCTAssertEqual(destroyed.value, 0)
                vow_value_release(object)
                XCTAssertEqual(destroyed.value, 1)
            }
        }
    }

    func testAListOwnsItsItems() {
        let items = [vow_int(1), vow_string("two", 3), vow_list(nil, 0)]
        let list = vow_list(items, items.count)
        XCTAssertEqual(vow_list_count(list), 3)
        XCTAssertEqual(vow_list_at(list, 0).as.integer, 1)
        XCTAssertEqual(text(vow_list_at(list, 1)), "two")
        XCTAssertEqual(vow_list_count(vow_list_at(list, 2)), 0)
        XCTAssertEqual(vow_list_at(list, 3).kind, VOW_NONE)
        XCTAssertEqual(vow_list_at(list, Int.max).kind, VOW_NONE)
        let kept = vow_value_retain(vow_list_at(list, 1))
        vow_value_release(list)
        XCTAssertEqual(text(kept), "two")
        vow_value_release(kept)
    }

    func testReadersAnswerForOtherKinds() {
        for value in [vow_none(), vow_int(1), vow_string("s", 1)] {
            XCTAssertNil(vow_object_pointer(value, nil))
            XCTAssertEqual(vow_list_count(value), 0)
            XCTAssertEqual(vow_list_at(value, 0).kind, VOW_NONE)
            XCTAssertNil(vow_error_domain(value))
            XCTAssertNil(vow_error_message(value))
            XCTAssertEqual(vow_error_code(value), 0)
            XCTAssertEqual(vow_error_payload(value).kind, VOW_NONE)
            vow_value_release(value)
        }
        var length = 9
        XCTAssertNil(vow_string_bytes(vow_int(1), &length))
        XCTAssertEqual(length, 0)
    }

    func testDescribingFollowsSnprintf() {
        let items = [vow_int(7), vow_string("x", 1)]
        let list = vow_list(items, 2)
        let whole = "[7, \"x\"]"
        XCTAssertEqual(vow_value_describe(list, nil, 0), Int32(whole.count))
        XCTAssertEqual(vow_value_describe(list, nil, 5), VOW_EINVAL)
        for size in 1...whole.count + 2 {
            var buffer = [CChar](repeating: 0x7f, count: size)
            XCTAssertEqual(vow_value_describe(list, &buffer, size), Int32(whole.count))
            XCTAssertEqual(
                buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) },
                String(whole.prefix(size - 1)))
        }
        vow_value_release(list)
    }
}
