// Tests chapter 6 of vow.h: where handlers run, and async.

import CVow
import Dispatch
import XCTest

/// The C handle inside Dispatch's Swift object.
private func handle(of queue: DispatchQueue) -> UnsafeMutableRawPointer {
    let wrapped = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }
    return UnsafeMutableRawPointer(wrapped?.value as! OpaquePointer)
}

private let key = DispatchSpecificKey<Int>()

/// Hands on the number of the queue that it runs on.
private func whereAmI(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(Int64(DispatchQueue.getSpecific(key: key) ?? 0))
}

private func noteKind(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    context!.object(Journal.self).write(Int(input.kind))
    return vow_int(5)
}

final class ExecutorsTests: CTest {
    override func tearDown() {
        vow_executor_set_default(nil)
        super.tearDown()
    }

    func testAsyncRunsOnTheExecutorAndGivesItsResult() {
        let thread = Journal()
        XCTAssertEqual(
            outcome(of: vow_async(vow_executor_inline(), noteKind, pointer(to: thread))),
            .integer(5))
        XCTAssertEqual(thread.entries, [Int(VOW_NONE)])
        XCTAssertEqual(thread.threads, [pthread_self()])
        let elsewhere = Journal()
        XCTAssertEqual(outcome(of: vow_async(nil, noteKind, pointer(to: elsewhere))), .integer(5))
        XCTAssertFalse(elsewhere.threads.contains(pthread_self()))
        XCTAssertEqual(outcome(of: vow_async(nil, { _, _ in failure(3) }, nil)), .error(3))
    }

    func testHandlersRunOnTheProgramsOwnQueues() {
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        serial.setSpecific(key: key, value: 1)
        concurrent.setSpecific(key: key, value: 2)
        for (queue, flags, number) in [
            (serial, UInt32(0), Int64(1)), (serial, VOW_SERIAL, 1), (serial, VOW_BARRIER, 1),
            (concurrent, 0, 2), (concurrent, VOW_BARRIER, 2),
        ] {
            let executor = vow_executor_dispatch(handle(of: queue), flags)!
            XCTAssertEqual(outcome(of: vow_async(executor, whereAmI, nil)), .integer(number))
            vow_executor_release(executor)
        }
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), 4))
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), VOW_SERIAL | VOW_BARRIER))
    }
}
