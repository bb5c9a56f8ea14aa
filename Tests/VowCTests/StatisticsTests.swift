// Tests chapters 8 and 9 of vow.h: the allocator's moment, the version, and the counters.

import CVow
import XCTest

final class StatisticsTests: CTest {

    func testStatisticsCountEachStep() {
        let before = statistics()
        let (promise, resolver) = create()
        let derived = link(vow_promise_retain(promise)!, fulfilled: pass)
        var now = statistics()
        XCTAssertEqual(now.created - before.created, 2)
        XCTAssertEqual(now.live - before.live, 2)
        XCTAssertEqual(now.pending - before.pending, 2)
        XCTAssertEqual(now.handlers - before.handlers, 1)
        XCTAssertEqual(now.settled, before.settled)
        XCTAssertGreaterThan(now.bytes, before.bytes)
        finish(resolver, vow_none())
        now = statistics()
        XCTAssertEqual(now.settled - before.settled, 2)
        XCTAssertEqual(now.pending, before.pending)
        XCTAssertEqual(now.handlers, before.handlers)
        XCTAssertEqual(now.live - before.live, 2)
        vow_promise_release(promise)
        vow_promise_release(derived)
        now = statistics()
        XCTAssertEqual(now.live, before.live)
        XCTAssertEqual(now.bytes, before.bytes)
        XCTAssertEqual(now.created - before.created, 2)
    }
}
