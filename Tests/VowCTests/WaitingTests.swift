// Tests chapter 5 of vow.h: waiting, and G11.

import CVow
import XCTest

final class WaitingTests: CTest {
    func testASettledPromiseAnswersAtOnceWithAnOwnedValue() {
        let promise = vow_promise_with(vow_string("kept", 4))
        var value = vow_none()
        XCTAssertEqual(vow_await(promise, 0, &value), Int32(VOW_FULFILLED))
        vow_promise_release(promise)
        XCTAssertEqual(vow_string_bytes(value, nil).map { String(cString: $0) }, "kept")
        vow_value_release(value)
    }

    func testG11_aWaitEndsBySettlingFromAnotherThread() {
        for timeout in [forever, oneMinute, Int64.max] {
            let (promise, resolver) = create()
            let worker = Worker {
                usleep(2000)
                finish(resolver, vow_int(6))
            }
            var value = vow_none()
            XCTAssertEqual(vow_await(promise, timeout, &value), Int32(VOW_FULFILLED))
            XCTAssertEqual(value.as.integer, 6)
            worker.join()
            vow_promise_release(promise)
        }
    }
}
