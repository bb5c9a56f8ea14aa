// Tests Promise+Create.swift and the resolver.

import Dispatch
import Vow
import XCTest

final class CreateTests: VowTest {
    func testAPendingPromiseIsSettledByItsResolverOnce() throws {
        let (promise, resolver) = Promise<String, any Error>.pending()
        XCTAssertTrue(promise.isPending)
        XCTAssertTrue(resolver.fulfill("first"))
        XCTAssertFalse(resolver.fulfill("second"))
        XCTAssertFalse(resolver.reject(TestError.one))
        XCTAssertEqual(try promise.wait(), "first")
    }

    func testOneOfManyThreadsSettles() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let winners = Journal<Int>()
        DispatchQueue.concurrentPerform(iterations: 100) { index in
            if resolver.fulfill(index) { winners.write(index) }
        }
        XCTAssertEqual(winners.entries, [try promise.wait()])
    }

    func testTheBodyOfAPromiseRunsHereAndNow() throws {
        var wasCalled = false
        let promise = Promise<Int, any Error> { resolver in
            wasCalled = true
            resolver.fulfill(1)
        }
        XCTAssertTrue(wasCalled)
        XCTAssertEqual(try promise.wait(), 1)
    }

    func testWhatTheBodyThrowsRejects() {
        let promise = Promise<Int, any Error> { _ in throw TestError.two }
        XCTAssertEqual(promise.error as? TestError, .two)
        let typed = Promise<Int, TestError> { _ throws(TestError) in throw .three }
        XCTAssertEqual(typed.error, .three)
    }

    func testTheLastResolverToGoBreaksItsPromise() {
        let promise = Promise<Int, any Error> { _ in }
        guard case PromiseError.broken? = promise.error as? PromiseError else {
            return XCTFail("\(promise)")
        }
    }

    func testABodyRunsOnItsExecutor() throws {
        let queue = PromiseExecutor.serial("body")
        let promise = Promise<Bool, any Error>(on: queue) { PromiseExecutor.current == queue }
        XCTAssertTrue(try promise.wait())
        let followed = Promise<Int, any Error>(on: .pool) { .value(5) }
        XCTAssertEqual(try followed.wait(), 5)
        let resolved = Promise<Int, any Error>(on: queue, resolving: { $0.fulfill(6) })
        XCTAssertEqual(try resolved.wait(), 6)
        let thrown = Promise<Int, any Error>(on: queue, resolving: { _ in throw TestError.one })
        XCTAssertEqual(failure(of: thrown) as? TestError, .one)
    }

    func testAPromiseOfAResultIsSettled() {
        XCTAssertEqual(Promise<Int, any Error>(.success(1)).state, .fulfilled)
        XCTAssertEqual(Promise<Int, any Error>(.failure(TestError.one)).error as? TestError, .one)
        XCTAssertEqual(Promise<Void, Never>.value.state, .fulfilled)
    }

    func testAnAttemptRunsHereAndItsThrowRejects() throws {
        XCTAssertEqual(try Promise<Int, any Error>.attempt { 1 }.wait(), 1)
        let thrown = Promise<Int, any Error>.attempt { () throws -> Int in throw TestError.one }
        XCTAssertEqual(thrown.error as? TestError, .one)
        let chain = firstly { () throws -> Promise<Int, any Error> in throw TestError.two }
        XCTAssertEqual(chain.error as? TestError, .two)
    }

    func testAResolverFollowsAPromise() throws {
        let (outer, outerResolver) = Promise<Int, any Error>.pending()
        let (inner, innerResolver) = Promise<Int, any Error>.pending()
        XCTAssertTrue(outerResolver.follow(inner))
        XCTAssertFalse(outerResolver.fulfill(1))
        XCTAssertTrue(outer.isPending)
        innerResolver.fulfill(2)
        XCTAssertEqual(try outer.wait(), 2)
    }

    func testCallbacksOfEveryShapeSettle() throws {
        typealias Number = Promise<Int, any Error>
        XCTAssertEqual(try Number { $0.settle(1, nil) }.wait(), 1)
        XCTAssertEqual(Number { $0.settle(1, TestError.one) }.error as? TestError, .one)
        XCTAssertEqual(Number { $0.settle(Int?.none, TestError.two) }.error as? TestError, .two)
        XCTAssertEqual(try Number { $0.settle(nil as (any Error)?, 3) }.wait(), 3)
        XCTAssertEqual(try Number { $0.resolve(with: .success(4)) }.wait(), 4)
        guard
            case PromiseError.neitherValueNorError? =
                Number({ $0.settle(Int?.none, nil) }).error as? PromiseError
        else { return XCTFail("a callback without anything") }
        try Promise<Void, any Error> { $0.settle(nil) }.wait()
        XCTAssertEqual(
            Promise<Void, any Error> { $0.settle(TestError.three) }.error as? TestError, .three)
    }
}
