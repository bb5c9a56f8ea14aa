// Test of stages that take their time, by a clock that the test moves.

import CVow
import XCTest

@testable import Vow

final class DelayedStagesTests: VowTest {
    private func delayed(_ text: String, seconds: Int64) -> Action<String, String> {
        Action<String, String> { input in
            Promise<Void, any Error>(owned: vow_delay(seconds * 1_000_000_000))
                .map { input + text }
        }
    }

    func testStagesRunInOrderAndTheirDelaysAddUp() {
        guard let loop = vow_loop_create_virtual() else { return XCTFail("no loop") }
        defer { vow_loop_destroy(loop) }
        let start = vow_now()
        let output = Journal<String>()
        let action = delayed(" Two", seconds: 2).then(delayed(" Three", seconds: 3))
            .then(delayed(" Four", seconds: 4))
        action("One") { text in output.write("\(text) after \((vow_now() - start) / 1_000_000_000)")
        }
        XCTAssertGreaterThan(vow_loop_advance(loop, 8_999_999_999), 0)
        XCTAssertEqual(output.entries, [])
        XCTAssertGreaterThan(vow_loop_advance(loop, 1), 0)
        XCTAssertEqual(output.entries, ["One Two Three Four after 9"])
    }
}
