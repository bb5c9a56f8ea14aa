// Tests that a promise of another failure type is waited for, and that its failure is not lost.

import Vow
import XCTest

private enum SaveError: PromiseFailure, Equatable {
    case full, lost

    init(promiseError _: any Error) { self = .lost }
}

private var loaded: Promise<Int, any Error> { .value(1) }
private var sure: Guarantee<Int> { .value(1) }
private func save() -> Promise<Void, SaveError> { .failure(.full) }

final class JoinedFailureTests: VowTest {
    func testAFailedPromiseOfAnotherFailureFailsTheChain() {
        let calls = Journal<String>()
        let end = loaded.then { _ in save() }.done { calls.write("saved!") }
        XCTAssertEqual(failure(of: end) as? SaveError, .full)
        XCTAssertEqual(calls.entries, [])
    }

    func testAPromiseBehindAGuaranteeIsWaitedFor() {
        let end = firstly { sure }.then { _ in save() }
        end.catch { (failure: SaveError) in XCTAssertEqual(failure, .full) }
        XCTAssertEqual(failure(of: end) as? SaveError, .full)
    }

    func testFinallyWaitsForAGuarantee() throws {
        let (cleaned, resolver) = Guarantee<Void>.pending(orElse: ())
        let end = loaded.finally(on: .inline) { cleaned }
        XCTAssertTrue(end.isPending)
        resolver.fulfill()
        XCTAssertEqual(try end.wait(), 1)
    }

    func testFinallyFailsWithTheOtherFailure() {
        XCTAssertEqual(failure(of: loaded.finally { save() }) as? SaveError, .full)
        XCTAssertEqual(failure(of: sure.finally { save() }) as? SaveError, .full)
    }

    func testARecoveryIsWaitedForWhateverItsFailure() throws {
        let failed = Promise<Int, any Error>.failure(TestError.one)
        XCTAssertEqual(try failed.recover { _ in sure }.wait(), 1)
        let again = failed.recover { _ in save().map { 2 } }
        XCTAssertEqual(failure(of: again) as? SaveError, .full)
        XCTAssertEqual(try failed.recover(from: TestError.self) { _ in sure }.wait(), 1)
    }

    func testWhatWorkThrowsAndWhatItsPromiseFailsWithAreBothFailures() {
        func work(_ isThrowing: Bool) -> Promise<Void, any Error> {
            firstly {
                if isThrowing { throw TestError.two }
                return save()
            }
        }
        XCTAssertEqual(failure(of: work(true)) as? TestError, .two)
        XCTAssertEqual(failure(of: work(false)) as? SaveError, .full)
    }

    func testItemsPromisesAreWaitedForWhateverTheirFailure() {
        let all = Promise.map([1, 2]) { number in
            if number == 0 { throw TestError.one }
            return save()
        }
        XCTAssertEqual(failure(of: all) as? SaveError, .full)
    }

    func testAnActionsPromiseIsWaitedForWhateverItsFailure() throws {
        let action = Action { (number: Int) in sure.map { $0 + number } }
        XCTAssertEqual(try action(2).wait(), 3)
    }
}
