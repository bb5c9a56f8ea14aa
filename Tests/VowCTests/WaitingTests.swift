// Tests chapter 5 of vow.h: waiting, and G11.

import CVow
import XCTest

final class WaitingTests: CTest {

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
