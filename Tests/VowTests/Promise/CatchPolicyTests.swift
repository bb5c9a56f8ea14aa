// Tests of policies: which errors a catch or a recover is told of.

import Vow
import XCTest

private enum Stopped: CancellableError {
    case byUser, byFault
    var isCancelled: Bool { self == .byUser }
}

final class CatchPolicyTests: VowTest {
    private let cancelled = Promise<Int, any Error>.failure(CancellationError())

    func testWhatWasCancelledIsNotRecoveredFromByPolicy() throws {
        let spared = cancelled.recover(policy: .allErrorsExceptCancellation) { _ in 1 }
        XCTAssertTrue(failure(of: spared) is CancellationError)
        XCTAssertEqual(try cancelled.recover(policy: .allErrors) { _ in 1 }.wait(), 1)
        let failed = Promise<Int, any Error>.failure(TestError.one)
        let recovered = failed.recover(policy: .allErrorsExceptCancellation) { _ in 2 }
        XCTAssertEqual(try recovered.wait(), 2)
    }

    func testAPromiseOfARecoveryIsWaitedForWhateverItsFailure() throws {
        let recovered = cancelled.recover(policy: .allErrors) { _ in
            Promise<Int, any Error>.value(3)
        }
        XCTAssertEqual(try recovered.wait(), 3)
        let guaranteed = cancelled.recover(policy: .allErrors) { _ in Promise<Int, Never>.value(4) }
        XCTAssertEqual(try guaranteed.wait(), 4)
        let spared = cancelled.recover(policy: .allErrorsExceptCancellation) { _ in
            Promise<Int, any Error>.value(5)
        }
        XCTAssertTrue(failure(of: spared) is CancellationError)
    }

    func testErrorsOfTheProgramMayStandForCancellation() throws {
        let calls = Journal<String>()
        for error in [Stopped.byUser, .byFault] {
            let failed = Promise<Int, any Error>.failure(error)
            try failed.catch(policy: .allErrorsExceptCancellation) { calls.write("\($0)") }.wait()
            let spared = failed.recover(policy: .allErrorsExceptCancellation) { _ in 6 }
            XCTAssertEqual(try spared.recover(with: 0).wait(), error == .byUser ? 0 : 6)
        }
        XCTAssertEqual(calls.entries, ["byFault"])
    }

    func testWhatIsCauterizedIsToldToWhoAsks() throws {
        let told = Journal<String>()
        UnhandledRejections.setCauterized { error, file, line in
            told.write("\(file):\(line) \(error)")
        }
        defer { UnhandledRejections.setCauterized(nil) }
        try Promise<Int, any Error>.failure(TestError.three).cauterize().wait()
        let line = #line - 1
        XCTAssertEqual(told.entries, ["\(#fileID):\(line) three"])
        try Promise<Int, any Error>.value(1).cauterize().wait()
        XCTAssertEqual(told.entries.count, 1)
    }
}
