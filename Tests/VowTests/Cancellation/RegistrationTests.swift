// Tests that what is registered for cancellation can leave.

import Vow
import VowTestSupport
import XCTest

final class RegistrationTests: XCTestCase {
    func testWhatHasLeftIsNotCalledAndLetsGoOfWhatItHolds() {
        final class Held: Sendable {}
        let source = CancellationSource()
        let calls = Journal<String>()
        var held: Held? = Held()
        weak let weakly = held
        let stays = source.token.onCancel { calls.write("stays") }
        let leaves = source.token.onCancel { [held] in
            calls.write("leaves")
            _ = held
        }
        held = nil
        XCTAssertNotNil(weakly)
        XCTAssertEqual(leaves.stage, .waiting)
        XCTAssertEqual(leaves.leave(), .neverRuns)
        XCTAssertNil(weakly)
        XCTAssertEqual(leaves.leave(), .neverRuns)
        source.cancel()
        XCTAssertEqual(calls.entries, ["stays"])
        XCTAssertEqual(stays.stage, .hasRun)
        XCTAssertEqual(stays.leave(), .hasRun)
    }

    func testAProducersFunctionLeaves() {
        let calls = Journal<String>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let leaves = resolver.onCancel { calls.write("leaves") }
        let stays = resolver.onCancel { calls.write("stays") }
        XCTAssertEqual(leaves.leave(), .neverRuns)
        promise.cancel()
        XCTAssertEqual(calls.entries, ["stays"])
        XCTAssertEqual(stays.stage, .hasRun)
        let late = resolver.onCancel { calls.write("late") }
        XCTAssertEqual(late.stage, .hasRun)
    }

    func testInsideTheFunctionItIsRunning() {
        let source = CancellationSource()
        let stages = Journal<CancellationRegistration.Stage>()
        let registration = Journal<CancellationRegistration>()
        registration.write(
            source.token.onCancel {
                if let own = registration.entries.first { stages.write(own.leave()) }
            })
        source.cancel()
        XCTAssertEqual(stages.entries, [.running])
    }

    func testLettingGoOfARegistrationLeavesItRegistered() {
        let source = CancellationSource()
        let calls = Journal<String>()
        do { _ = source.token.onCancel { calls.write("called") } }
        source.cancel()
        XCTAssertEqual(calls.entries, ["called"])
    }

    func testALinkedSourceLivesByItsToken() {
        let parent = CancellationSource()
        let calls = Journal<String>()
        var token: CancellationToken? = CancellationSource(linkedTo: [parent.token]).token
        token?.onCancel { calls.write("cancelled") }
        let unused = CancellationSource(linkedTo: [parent.token]).token.onCancel {
            calls.write("never")
        }
        XCTAssertEqual(unused.stage, .neverRuns)
        parent.cancel(reason: 7)
        XCTAssertEqual(calls.entries, ["cancelled"])
        XCTAssertEqual(token?.reason(as: Int.self), 7)
        token = nil
    }
}
