// Tests of looking at results without changing them, and of waiting for them.

import Dispatch
import Vow
import XCTest

private typealias Number = Promise<Int, any Error>

final class ObserverTests: VowTest {
    private let calls = Journal<String>()

    /// All three observers on a promise, in the order in which they were attached.
    private func observe(_ promise: Number) -> Number {
        let calls = calls
        return
            promise
            .onComplete(on: .inline) { _ in calls.write("complete") }
            .onSuccess(on: .inline) { calls.write("success \($0)") }
            .onFailure(on: .inline) { calls.write("failure \($0)") }
    }

    func testObserversOfAValueReturnThePromiseItself() {
        let promise = Number.value(1)
        XCTAssertEqual(observe(promise), promise)
        XCTAssertEqual(calls.entries, ["complete", "success 1"])
    }

    func testObserversOfAFailure() {
        let promise = Number.failure(TestError.one)
        XCTAssertEqual(observe(promise), promise)
        XCTAssertEqual(calls.entries, ["complete", "failure one"])
    }

    func testAnObserverOfOneTypeOfFailure() {
        let calls = calls
        let promise = Number.failure(TestError.one)
        promise.onFailure(of: CancellationError.self, on: .inline) { _ in calls.write("no") }
        promise.onFailure(of: TestError.self, on: .inline) { calls.write("\($0)") }
        XCTAssertEqual(calls.entries, ["one"])
    }

    func testGetAndTapPassOnWhatTheySee() throws {
        let calls = calls
        XCTAssertEqual(try Number.value(1).get { calls.write("\($0)") }.wait(), 1)
        let failed = Number.failure(TestError.one).tap { result in
            if case .failure(let error) = result { calls.write("\(error)") }
        }
        XCTAssertEqual(failure(of: failed) as? TestError, .one)
        XCTAssertEqual(calls.entries, ["1", "one"])
        let threw = Number.value(1).get { _ in throw TestError.two }
        XCTAssertEqual(failure(of: threw) as? TestError, .two)
    }

    func testWaitingBlocksUntilItIsSettled() throws {
        let (promise, resolver) = Number.pending()
        DispatchQueue.global().async { resolver.fulfill(3) }
        XCTAssertEqual(try promise.wait(), 3)
        XCTAssertThrowsError(try Number.failure(TestError.one).wait()) {
            XCTAssertEqual($0 as? TestError, .one)
        }
    }

    func testWaitingEndsWithItsTime() {
        let (promise, resolver) = Number.pending()
        XCTAssertThrowsError(try promise.wait(timeout: .milliseconds(1))) { error in
            guard case PromiseError.timedOut(nil) = error else { return XCTFail("\(error)") }
        }
        withExtendedLifetime(resolver) {}
    }
}
