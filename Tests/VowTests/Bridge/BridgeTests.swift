// Tests Bridge/: chains that begin in C, pass through Swift and end in C, and the other way round.

import CChain
import CVow
import Vow
import XCTest

final class BridgeTests: VowTest {
    func testAChainBeginsInCPassesThroughSwiftAndEndsInC() {
        let swift = Promise<Int, any Error>(taking: chain_number(20), as: Int.self)
            .map { $0 + 1 }
            .then { Promise<Int, any Error>.value($0) }
        let end = chain_doubled(swift.makeCPromise())
        XCTAssertEqual(chain_wait_number(end), 42)
        vow_promise_release(end)
    }

    func testAChainBeginsInSwiftPassesThroughCAndEndsInSwift() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let end = Promise<Int, any Error>(taking: chain_doubled(promise.makeCPromise()))
            .map { "\($0)!" }
        resolver.fulfill(21)
        XCTAssertEqual(try end.wait(), "42!")
    }

    func testAnErrorOfCPassesThroughSwiftAndIsTheSameInC() throws {
        let swift = Promise<Int, any Error>(taking: chain_failure(7)).map { $0 + 1 }
        let error = failure(of: swift) as? CError
        XCTAssertEqual(error?.domain, "chain")
        XCTAssertEqual(error?.code, 7)
        XCTAssertEqual(error?.plain.description, "chain 7: made in C")
        let text = Promise<String, any Error>(taking: chain_described(swift.makeCPromise()))
        XCTAssertEqual(try text.wait(), "chain:7:made in C")
        let again = swift.recover { throw $0 }
        again.withCPromise { XCTAssertEqual(chain_wait_number($0), -7) }
    }

    func testAnErrorOfSwiftIsReadInCAndFoundAgainInSwift() throws {
        let failed = Promise<Int, any Error>.failure(TestError.two)
        let text = Promise<String, any Error>(taking: chain_described(failed.makeCPromise()))
        XCTAssertEqual(try text.wait(), "VowTestSupport.TestError:1:two")
        let through = Promise<Int, any Error>(taking: chain_doubled(failed.makeCPromise()))
        XCTAssertEqual(failure(of: through) as? TestError, .two)
    }

    func testATextOfCIsAString() throws {
        XCTAssertEqual(
            try Promise<String, any Error>(taking: chain_text("hello")).map(\.count).wait(), 5)
    }

    func testAValueOfAnotherTypeIsAClearError() {
        let wrong = Promise<Int, any Error>(taking: chain_text("hello")).map { $0 + 1 }
        XCTAssertEqual(
            "\(failure(of: wrong)!)", "expected Int, found \"hello\"")
        let read = Promise<Int, any Error>(taking: chain_text("x"))
        XCTAssertEqual("\(failure(of: read)!)", "expected Int, found \"x\"")
    }

    func testBothFacesSeeTheSamePromise() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.withCPromise { pointer in
            XCTAssertEqual(vow_promise_state(pointer), VOW_PENDING)
            XCTAssertEqual(Promise<Int, any Error>(borrowing: pointer), promise)
            resolver.fulfill(1)
            XCTAssertEqual(vow_promise_state(pointer), VOW_FULFILLED)
        }
    }

    func testAResolverOfCSettlesForSwiftAndTheOtherWayRound() throws {
        var cResolver: OpaquePointer?
        let promise = Promise<String, any Error>(taking: vow_promise_create(&cResolver))
        PromiseResolver<String, any Error>(taking: cResolver!).fulfill("from Swift")
        XCTAssertEqual(try promise.wait(), "from Swift")
        let (other, resolver) = Promise<String, any Error>.pending()
        let lent = resolver.makeCResolver()
        XCTAssertTrue(vow_resolve(lent, vow_string("from C", 6)))
        vow_resolver_release(lent)
        XCTAssertEqual(try other.wait(), "from C")
    }

    func testCancellingInCReachesSwiftAndTheOtherWayRound() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("stop") }
        promise.withCPromise { XCTAssertTrue(vow_cancel($0)) }
        XCTAssertTrue(promise.error is CancellationError)
        XCTAssertEqual(calls.entries, ["stop"])
        let source = CancellationSource()
        source.cancel()
        source.token.withCToken { XCTAssertTrue(vow_token_is_cancelled($0)) }
    }

    func testAnExecutorOfCRunsSwiftHandlers() throws {
        let executor = PromiseExecutor(taking: vow_executor_serial("c")!)
        let ran = Promise<Bool, any Error>(on: executor) { PromiseExecutor.current == executor }
        XCTAssertTrue(try ran.wait())
        executor.withCExecutor { XCTAssertNotNil($0) }
    }

    func testCValuesOfAnyKindTravel() throws {
        let list = [vow_int(1), vow_string("two", 3)]
        let promise = Promise<CValue, any Error>(taking: vow_promise_with(vow_list(list, 2)))
        let read = promise.map { "\($0.list![0].int!) \($0.list![1].string!)" }
        XCTAssertEqual(try read.wait(), "1 two")
    }
}
