// Tests that a promise which is rejected with what its failure type has no word for ends no process, and tells those who
// can take it.

import Vow
import XCTest

private enum MyErr: Error, Equatable { case own }

final class UnspeakableTests: VowTest {
    func testAGuaranteesLinkWithATokenFailsByCancellationOnly() async {
        let (promise, resolver) = Guarantee<Int>.pending()
        let source = CancellationSource()
        let calls = Journal<Int>()
        let mapped = promise.map(on: .inline, cancelledBy: source.token) { $0 + 1 }
        let done = promise.done(on: .inline, cancelledBy: source.token) { calls.write($0) }
        let then = promise.then(on: .inline, cancelledBy: source.token) { _ in Guarantee.value(1) }
        source.cancel()
        XCTAssertNotNil(mapped.error)
        XCTAssertNotNil(done.error)
        do {
            _ = try await then.value
            XCTFail("it was cancelled")
        } catch { XCTAssertTrue(then.isCancelled) }
        XCTAssertTrue(promise.isPending)
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, [])
    }

    func testWithoutACancellationTheTokenChangesNothing() throws {
        let source = CancellationSource()
        let promise = Guarantee.value(1).map(on: .inline, cancelledBy: source.token) { $0 + 1 }
        XCTAssertEqual(promise.error.map { "\($0)" }, nil)
        XCTAssertEqual(try promise.wait(), 2)
    }

    func testATypedPromiseThatIsCancelledHasNoResultOfItsType() {
        let (promise, resolver) = Promise<Int, MyErr>.pending()
        let source = CancellationSource()
        let calls = Journal<String>()
        let mapped = promise.map(on: .inline, cancelledBy: source.token) { number in
            calls.write("map")
            return number
        }
        let ended = mapped.finally(on: .inline) { calls.write("finally") }
            .catch(on: .inline) { _ in calls.write("catch") }
        source.cancel()
        resolver.fulfill(1)
        XCTAssertNil(mapped.result)
        XCTAssertNil(mapped.error)
        XCTAssertTrue(mapped.isCancelled)
        XCTAssertTrue(mapped.eraseFailure().error is CancellationError)
        XCTAssertEqual(calls.entries, ["finally"])
        XCTAssertEqual(ended.state, .fulfilled, "the chain is through")
    }

    func testALostResolverOfAGuaranteeEndsNoProcess() {
        let (promise, resolver) = Guarantee<Int>.pending()
        _ = consume resolver
        XCTAssertEqual(promise.state, .rejected)
        XCTAssertNil(promise.result)
        guard case PromiseError.broken? = failure(of: promise) as? PromiseError else {
            return XCTFail("\(promise)")
        }
    }

    func testAnErrorThatACatchHasNoWordForIsReported() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        let (promise, resolver) = Promise<Int, MyErr>.pending()
        let end = promise.catch(on: .inline) { _ in XCTFail("there is no such failure") }
        _ = consume resolver
        XCTAssertEqual(end.state, .fulfilled)
        XCTAssertEqual(reports.entries, ["\(PromiseError.broken)"])
    }
}

/// Outside of the leak gate: a task that waits for ever keeps what it has.
final class UnspeakableTaskTests: XCTestCase {
    func testATaskThatAwaitsItWaitsOn() async {
        let (promise, resolver) = Guarantee<Int>.pending()
        let calls = Journal<String>()
        Task {
            calls.write("begins")
            _ = await promise.value
            calls.write("ends")
        }
        eventually("the task waits") { calls.entries == ["begins"] }
        _ = consume resolver
        let rest = Guarantee.value(1)
        let both = [rest, promise].completions
        var results: [Int] = []
        for await (index, _) in both { results.append(index) }
        XCTAssertEqual(results, [0], "what has no result is left out")
        XCTAssertEqual(calls.entries, ["begins"])
    }
}
