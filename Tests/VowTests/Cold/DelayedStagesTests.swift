// Test of stages that take their time, by a clock that the test moves.

import Vow
import XCTest

final class DelayedStagesTests: VowTest {
    private func delayed(_ text: String, by duration: Duration) -> Action<String, String> {
        Action<String, String> { input in
            Promise.delay(duration).map { input + text }
        }
    }

    func testStagesRunInOrderAndTheirDelaysAddUp() throws {
        let loop = try PromiseLoop.virtual()
        let start = PromiseClock.now
        let output = Journal<String>()
        let action = delayed(" Two", by: .seconds(2)).then(delayed(" Three", by: .seconds(3)))
            .then(delayed(" Four", by: .seconds(4)))
        action("One") { text in output.write("\(text) after \(PromiseClock.now - start)") }
        try loop.advance(by: .nanoseconds(8_999_999_999))
        XCTAssertEqual(output.entries, [])
        try loop.advance(by: .nanoseconds(1))
        XCTAssertEqual(output.entries, ["One Two Three Four after 9.0 seconds"])
    }
}
