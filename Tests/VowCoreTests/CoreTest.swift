// What every test of the core begins and ends with: nothing is held that was not held before.

import XCTest

@testable import VowCore

/// What the library holds at a moment, over all threads.
struct Holdings: Equatable {
    let live: UInt64
    let pending: UInt64
    let handlers: UInt64
    let bytes: UInt64

    init() {
        let sums = sumCounters()
        live = sums.promisesMade &- sums.promisesFreed
        pending = sums.promisesMade &- sums.promisesSettled &- sums.promisesFreedPending
        handlers = sums.handlersRegistered &- sums.handlersDone
        bytes = sums.bytesTaken &- sums.bytesFreed
    }
}

/// The base of all suites here: a leak gate around each test.
class CoreTest: XCTestCase {
    private var before = Holdings()

    /// The state of the thread that runs the test.
    var thread: ThreadPointer { currentThread() }

    override func setUp() {
        super.setUp()
        _ = currentThread()
        before = Holdings()
    }

    override func tearDown() {
        let before = before
        // Workers may still be giving back what they ran when the test had seen its results.
        eventually("the test gives back what it took") { Holdings() == before }
        let idle = thread
        XCTAssertTrue(idle.pointee.agenda.ready.isEmpty)
        XCTAssertTrue(idle.pointee.agenda.handOver.isEmpty)
        XCTAssertEqual(idle.pointee.agenda.dead, 0)
        XCTAssertNil(idle.pointee.frame)
        XCTAssertNil(idle.pointee.place)
        XCTAssertTrue(idle.pointee.agenda.skipped.isEmpty)
        XCTAssertFalse(idle.pointee.owesWorker)
        XCTAssertEqual(idle.pointee.foreignDepth, 0)
        XCTAssertEqual(idle.pointee.agenda.draining, [])
        super.tearDown()
    }
}

/// Fails unless the condition comes true within a minute.
func eventually(
    _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
) {
    let end = Deadline.after(60_000_000_000)
    while !condition() {
        if end.hasPassed {
            XCTFail("in a minute it did not happen that \(what)", file: file, line: line)
            return
        }
        usleep(200)
    }
}
