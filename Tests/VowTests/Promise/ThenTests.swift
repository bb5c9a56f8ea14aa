// Tests Promise+Then.swift.

import Vow
import XCTest

final class ThenTests: VowTest {
    private let three = Promise<Int, any Error>.value(3)
    private let failed = Promise<Int, any Error>.failure(TestError.one)

    func testAHandlerReturnsAValueOrAPromise() throws {
        XCTAssertEqual(try three.map { $0 + 1 }.wait(), 4)
        XCTAssertEqual(try three.then { .value("\($0)") }.wait(), "3")
        XCTAssertEqual(try three.map { $0 * 2 }.wait(), 6)
        XCTAssertEqual(try three.then { .value($0 * 2) }.wait(), 6)
    }

    func testAFailurePassesByToTheNextOneThatHandlesIt() {
        let calls = Journal<Int>()
        let end = failed.map { calls.write($0) }.map { 1 }.map { $0 }.then { .value($0) }
        XCTAssertEqual(failure(of: end) as? TestError, .one)
        XCTAssertEqual(calls.entries, [])
    }

    func testWhatAHandlerThrowsRejects() {
        let thrown = three.map { number -> Int in
            if number == 3 { throw TestError.two }
            return number
        }
        XCTAssertEqual(failure(of: thrown) as? TestError, .two)
        let inner = three.then { _ -> Promise<Int, any Error> in throw TestError.three }
        XCTAssertEqual(failure(of: inner) as? TestError, .three)
        let rejected = three.then { _ -> Promise<Int, any Error> in .failure(TestError.one) }
        XCTAssertEqual(failure(of: rejected) as? TestError, .one)
    }

    func testSeveralHandlersOfOnePromiseRunInTheOrderOfTheirAttachment() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<Int>()
        for index in 0..<100 { promise.map(on: .inline) { _ in calls.write(index) } }
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, Array(0..<100))
        promise.map(on: .inline) { _ in calls.write(100) }
        XCTAssertEqual(calls.entries, Array(0...100))
    }

    func testThenAlwaysMakesANewPromise() {
        let same = three.map { $0 }
        XCTAssertNotEqual(same, three)
        XCTAssertEqual(three, three)
    }

    func testAPromiseThatItWouldHaveToWaitForIsRefused() {
        let slot = Journal<Promise<Int, any Error>>()
        let (root, resolver) = Promise<Int, any Error>.pending()
        let own = root.then(on: .inline) { _ in slot.entries[0] }
        slot.write(own)
        resolver.fulfill(1)
        guard case PromiseError.cycle? = failure(of: own) as? PromiseError else {
            return XCTFail("\(own)")
        }
    }

    func testAPromiseThatNeedsWhatIsCombinedOfItIsRefused() {
        let slot = Journal<Promise<Int, any Error>>()
        let (root, resolver) = Promise<Int, any Error>.pending()
        let own = root.then(on: .inline) { _ in slot.entries[0] }
        slot.write(Promise.all([Promise.value(1), own]).map { $0.count })
        resolver.fulfill(1)
        guard case PromiseError.cycle? = failure(of: own) as? PromiseError else {
            return XCTFail("\(own)")
        }
    }

    func testAPromiseIsAValueWhenItIsTheSuccess() throws {
        let nested = Promise<Promise<Int, any Error>, Never>.value(three)
        XCTAssertEqual(try nested.wait(), three)
        XCTAssertEqual(try nested.map { $0.state }.wait(), .fulfilled)
    }

    func testHandlersAttachedWhileOthersRunComeLast() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        promise.done(on: .inline) { _ in
            calls.write("first")
            promise.done(on: .inline) { _ in calls.write("nested") }
        }
        promise.done(on: .inline) { _ in calls.write("second") }
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, ["first", "second", "nested"])
    }
}
