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
}
