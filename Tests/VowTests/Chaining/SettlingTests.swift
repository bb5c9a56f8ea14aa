// Tests of making promises and deciding about them.

import Dispatch
import Vow
import XCTest

final class SettlingTests: VowTest {
    func testAPromiseIsPendingThenFulfilledForEver() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertEqual(promise.state, .pending)
        XCTAssertNil(promise.result)
        XCTAssertTrue(resolver.fulfill(1))
        XCTAssertEqual(promise.state, .fulfilled)
        XCTAssertFalse(resolver.fulfill(2))
        XCTAssertFalse(resolver.reject(TestError.one))
        XCTAssertEqual(try promise.result?.get(), 1)
        XCTAssertNil(promise.error)
    }

    func testAPromiseIsPendingThenRejectedForEver() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertTrue(resolver.reject(TestError.one))
        XCTAssertEqual(promise.state, .rejected)
        XCTAssertFalse(resolver.fulfill(2))
        XCTAssertEqual(promise.error as? TestError, .one)
    }

    func testAResultDecides() throws {
        for result in [Result<Int, any Error>.success(3), .failure(TestError.two)] {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            XCTAssertTrue(resolver.resolve(with: result))
            XCTAssertEqual(try? promise.result?.get(), try? result.get())
            XCTAssertEqual(promise.error as? TestError, Promise(result).error as? TestError)
        }
    }

    func testAPromiseThatFollowsSettlesAsTheOtherOne() throws {
        let (follower, deciding) = Promise<Int, any Error>.pending()
        let (other, resolver) = Promise<Int, any Error>.pending()
        XCTAssertTrue(deciding.follow(other))
        XCTAssertFalse(deciding.fulfill(1))
        XCTAssertTrue(follower.isPending)
        resolver.fulfill(2)
        XCTAssertEqual(try follower.wait(timeout: .seconds(10)), 2)
    }

    func testSettledPromisesAreMadeAtOnce() {
        XCTAssertEqual(try Promise<Int, any Error>.value(1).result?.get(), 1)
        XCTAssertEqual(Promise<Int, any Error>.failure(TestError.one).error as? TestError, .one)
        XCTAssertEqual(Promise<Void, Never>.value.state, .fulfilled)
    }

    func testAnErrorIsAValueLikeAnyOther() throws {
        let promise = Promise<any Error, any Error>.value(TestError.one)
        XCTAssertEqual(promise.state, .fulfilled)
        XCTAssertEqual(try promise.wait() as? TestError, .one)
    }

    func testTheBodyRunsHereAndNowAndWhatItThrowsRejects() {
        let thread = Thread.current
        let promise = Promise<Int, any Error> { _ in
            XCTAssertEqual(Thread.current, thread)
            throw TestError.one
        }
        XCTAssertEqual(promise.error as? TestError, .one)
    }

    func testCallbacksOfEveryShapeDecide() {
        func decided<Value>(
            _ decide: (Resolver<Value, any Error>) -> Bool
        ) -> Result<Value, any Error>? {
            let (promise, resolver) = Promise<Value, any Error>.pending()
            XCTAssertTrue(decide(resolver))
            return promise.result
        }
        let nothing: Int? = nil
        let none: (any Error)? = nil
        XCTAssertEqual(try decided { $0.settle(Int?(1), none) }?.get(), 1)
        XCTAssertEqual(try decided { $0.settle(none, Int?(2)) }?.get(), 2)
        XCTAssertEqual(try decided { $0.settle(3, none) }?.get(), 3)
        XCTAssertThrowsError(try decided { $0.settle(Int?(1), TestError.one) }?.get())
        XCTAssertThrowsError(try decided { $0.settle(3, TestError.one) }?.get())
        XCTAssertNoThrow(
            try decided { (resolver: Resolver<Void, any Error>) in resolver.settle(none) }?.get())
        guard
            case .failure(PromiseError.neitherValueNorError)? = decided({ $0.settle(nothing, none) }
            )
        else { return XCTFail("neither a value nor an error is no failure") }
    }

    func testAResolverThatIsLostBreaksThePromise() {
        let promise = Promise<Int, any Error> { _ in }
        guard case PromiseError.broken? = promise.error else { return XCTFail("not broken") }
    }

    func testManyTuplesAreValues() throws {
        let promise = Promise<(Int, String, Bool), any Error>.value((1, "a", true))
        let text = promise.map { number, text, isTrue in "\(number)\(text)\(isTrue)" }
        XCTAssertEqual(try text.wait(), "1atrue")
    }
}
