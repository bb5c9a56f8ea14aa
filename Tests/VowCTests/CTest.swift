// What every test of the C functions begins and ends with: nothing is held that was not held before.

import CVow
import XCTest

/// What the library says about itself.
func statistics() -> vow_statistics {
    var statistics = vow_statistics()
    statistics.size = MemoryLayout<vow_statistics>.size
    XCTAssertEqual(vow_stats(&statistics), 0)
    return statistics
}

/// The base of all suites here: a leak gate around each test.
class CTest: XCTestCase {
    private var before = vow_statistics()

    override func setUp() {
        super.setUp()
        before = statistics()
    }

    override func tearDown() {
        let before = before
        // Workers may still be giving back what they ran when the test had seen its results.
        eventually("the test gives back what it took") {
            let now = statistics()
            return now.live == before.live && now.pending == before.pending
                && now.handlers == before.handlers && now.bytes == before.bytes
        }
        super.tearDown()
    }
}

/// Fails unless the condition comes true within a minute.
func eventually(
    _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
) {
    for _ in 0..<300_000 {
        if condition() { return }
        usleep(200)
    }
    XCTFail("in a minute it did not happen that \(what)", file: file, line: line)
}

/// Long enough for everything that ends at all, in nanoseconds.
let oneMinute: Int64 = 60_000_000_000
/// vow.h's VOW_FOREVER, as wide as the time-out.
let forever = Int64(VOW_FOREVER)
