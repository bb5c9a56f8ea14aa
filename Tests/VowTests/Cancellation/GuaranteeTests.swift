// Tests that a promise which cannot be rejected is not: by no token, no cancellation below it, and no lost resolver.

import Vow
import XCTest

final class GuaranteeTests: VowTest {
    func testATokenGivesALinkThatFailsByCancellationOnly() async {
        let (promise, resolver) = Guarantee<Int>.pending(orElse: 0)
        let source = CancellationSource()
        let calls = Journal<Int>()
        let cancelled = promise.cancelled(by: source.token)
        let mapped = cancelled.map(on: .inline) { $0 + 1 }
        let done = cancelled.done(on: .inline) { calls.write($0) }
        source.cancel()
        XCTAssertNotNil(mapped.error)
        XCTAssertNotNil(done.error)
        do {
            _ = try await cancelled.value
            XCTFail("it was cancelled")
        } catch { XCTAssertTrue(cancelled.isCancelled) }
        XCTAssertTrue(promise.isPending)
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, [])
        let value = await promise.value
        XCTAssertEqual(value, 1)
    }

    func testWithoutACancellationTheTokenChangesNothing() throws {
        let source = CancellationSource()
        let promise = Guarantee.value(1).cancelled(by: source.token).map(on: .inline) { $0 + 1 }
        XCTAssertEqual(try promise.wait(), 2)
    }

    func testALostResolverGivesTheOtherValue() async {
        let (promise, resolver) = Guarantee<Int>.pending(orElse: 7)
        _ = consume resolver
        let value = await promise.value
        XCTAssertEqual(value, 7)
    }

    func testCancellingWhatIsDerivedLeavesItAlone() async {
        let derive: [(Guarantee<Int>) -> Promise<Int, any Error>] = [
            { $0.eraseFailure() },
            { $0.then(on: .inline) { Promise<Int, any Error>.value($0) } },
            { sure in Promise<Int, any Error>.value(1).then(on: .inline) { _ in sure } },
            { sure in Promise<Int, any Error>.failure(TestError.one).recover { _ in sure } },
            { $0.finally(on: .inline) { Promise<Int, any Error>.pending().promise } },
            { sure in Promise<Int, any Error>.value(1).finally(on: .inline) { sure } },
            { sure in Promise.any([sure, sure]) },
            { $0.eraseFailure().timeout(.zero) },
            { sure in Promise.race(sure.eraseFailure(), .failure(TestError.one)) },
            { sure in
                Promise<Void, any Error>.value.using {
                    sure
                } release: {
                }
            },
            { sure in Promise.retry { _ in sure } },
            { sure in Promise.map([1]) { _ in sure }.map { $0[0] } },
            { sure in withPromiseScope { $0.start { sure } } },
            {
                $0.setFailureType(to: CancellationError.self).map(on: .inline) { $0 }
                    .eraseFailure()
            },
        ]
        for (index, derived) in derive.enumerated() {
            let (promise, resolver) = Guarantee<Int>.pending(orElse: 0)
            let below = derived(promise)
            eventually("\(index): the closure has run") {
                below.cancel()
                return true
            }
            resolver.fulfill(index)
            let value = await promise.value
            XCTAssertEqual(value, index)
            _ = try? await below.value
        }
    }

    func testTheLoserOfARaceIsLeftAlone() async {
        let (late, lateResolver) = Guarantee<Int>.pending(orElse: 0)
        let first = await Promise.race(late, Guarantee.value(1)).value
        XCTAssertEqual(first, 1)
        lateResolver.fulfill(2)
        let second = await late.value
        XCTAssertEqual(second, 2)
    }

    func testATypedPromiseThatIsCancelledHasAFailureOfItsType() async {
        let (promise, resolver) = Promise<Int, TestError>.pending()
        let source = CancellationSource()
        let calls = Journal<String>()
        let mapped = promise.map(on: .inline, cancelledBy: source.token) { number in
            calls.write("map")
            return number
        }
        let ended = mapped.finally(on: .inline) { calls.write("finally") }
            .catch(on: .inline) { calls.write("catch \($0)") }
        source.cancel()
        resolver.fulfill(1)
        guard case .failure(.library) = await mapped.settled else {
            return XCTFail("\(mapped)")
        }
        XCTAssertTrue(mapped.isCancelled)
        XCTAssertEqual(calls.entries, ["finally", "catch library"])
        XCTAssertEqual(ended.state, .fulfilled, "the chain is through")
    }
}
