// Tests of going on with a value, with either, and with what comes after everything.

import Vow
import XCTest

private typealias Number = Promise<Int, any Error>

final class ChainTests: VowTest {
    private let failed = Number.failure(TestError.one)
    private let calls = Journal<String>()

    override func setUp() {
        super.setUp()
        _ = failed.error
    }

    func testMapMakesAValueAndIsSkippedByAFailure() throws {
        XCTAssertEqual(try Number.value(1).map { "\($0)" }.wait(), "1")
        let calls = calls
        let skipped = failed.map { number in calls.write("\(number)") }
        XCTAssertEqual(failure(of: skipped) as? TestError, .one)
        let threw = Number.value(1).map { _ -> Int in throw TestError.two }
        XCTAssertEqual(failure(of: threw) as? TestError, .two)
        XCTAssertEqual(calls.entries, [])
    }

    func testFlatMapWaitsForThePromiseOfItsClosure() throws {
        let (inner, resolver) = Number.pending()
        let outer = Number.value(1).flatMap(on: .inline) { _ in inner }
        XCTAssertTrue(outer.isPending)
        resolver.fulfill(5)
        XCTAssertEqual(try outer.wait(timeout: .seconds(10)), 5)
        let rejected = Number.value(1).flatMap { _ in Number.failure(TestError.two) }
        XCTAssertEqual(failure(of: rejected) as? TestError, .two)
    }

    func testThenIsAPromiseOfItsOwn() {
        let first = Number.value(1)
        let second = first.then { $0 }
        XCTAssertNotEqual(first, second)
        XCTAssertEqual(first, first.promise)
    }

    func testOneOfTwoHandlersRunsAndNeverBoth() throws {
        let calls = calls
        let value = Number.value(1).then { _ -> Int in
            throw TestError.two
        } rejected: { _ in
            calls.write("rejected")
            return 0
        }
        XCTAssertEqual(failure(of: value) as? TestError, .two)
        let handled = failed.then {
            $0
        } rejected: { _ in
            7
        }
        XCTAssertEqual(try handled.wait(), 7)
        XCTAssertEqual(calls.entries, [])
    }

    func testHandlersOnOnePromiseRunInOrderBeforeAndAfterItSettles() {
        let (promise, resolver) = Number.pending()
        let calls = calls
        for name in ["a", "b"] { promise.done(on: .inline) { _ in calls.write(name) } }
        resolver.fulfill(1)
        for name in ["c", "d"] { promise.done(on: .inline) { _ in calls.write(name) } }
        XCTAssertEqual(calls.entries, ["a", "b", "c", "d"])
    }

    func testHandlersAttachedWhileOthersRunComeLast() {
        let (promise, resolver) = Number.pending()
        let calls = calls
        promise.done(on: .inline) { _ in
            calls.write("first")
            promise.done(on: .inline) { _ in calls.write("nested") }
        }
        promise.done(on: .inline) { _ in calls.write("second") }
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, ["first", "second", "nested"])
    }

    func testFilterIsAFailureWhereNothingFits() throws {
        XCTAssertEqual(try Number.value(2).filter { $0 > 1 }.wait(), 2)
        guard case PromiseError.noSuchElement? = failure(of: Number.value(1).filter { $0 > 1 })
        else { return XCTFail("it went through") }
        let valid = Number.value(1).validate(orThrow: TestError.three) { $0 > 1 }
        XCTAssertEqual(failure(of: valid) as? TestError, .three)
        let threw = Number.value(1).filter { _ in throw TestError.two }
        XCTAssertEqual(failure(of: threw) as? TestError, .two)
        XCTAssertEqual(failure(of: failed.filter { _ in true }) as? TestError, .one)
    }

    func testTransformOfEachSide() throws {
        func both(_ promise: Number) -> Promise<String, TestError> {
            promise.transform { number throws(TestError) in
                "\(number)"
            } failure: { _ in
                .three
            }
        }
        XCTAssertEqual(try both(.value(1)).wait(), "1")
        XCTAssertEqual(failure(of: both(failed)) as? TestError, .three)
        let threw = Number.value(1).transform { _ throws -> Int in
            throw TestError.two
        } failure: { (error: any Error) -> any Error in
            error
        }
        XCTAssertEqual(failure(of: threw) as? TestError, .two)
    }

    func testTransformOfTheResult() throws {
        let turned = failed.transform { result -> Result<String, any Error> in
            result.map { "\($0)" }.flatMapError { _ in .success("instead") }
        }
        XCTAssertEqual(try turned.wait(), "instead")
        let described = failed.transform { result in (try? result.get()) ?? -1 }
        XCTAssertEqual(try described.wait(), -1)
    }

    func testTransformOfTheResultWithAPromise() throws {
        let next = failed.transform { result -> Promise<String, any Error> in
            if case .success = result { return .value("value") }
            return .value("failure")
        }
        XCTAssertEqual(try next.wait(), "failure")
    }

    func testFinallyRunsEitherWayAndPassesTheResultOn() throws {
        let calls = calls
        XCTAssertEqual(try Number.value(1).finally { calls.write("value") }.wait(), 1)
        let passed = failed.finally { calls.write("failure") }
        XCTAssertEqual(failure(of: passed) as? TestError, .one)
        XCTAssertEqual(calls.entries, ["value", "failure"])
        let threw = Number.value(1).finally { throw TestError.two }
        XCTAssertEqual(failure(of: threw) as? TestError, .two)
    }

    func testFinallyWaitsForItsPromise() throws {
        let (cleaning, cleaned) = Promise<Void, any Error>.pending()
        let promise = Number.value(1).finally(on: .inline) { cleaning }
        XCTAssertTrue(promise.isPending)
        cleaned.fulfill()
        XCTAssertEqual(try promise.wait(timeout: .seconds(10)), 1)
    }

    func testFirstlyRunsAtOnceAndAThrowIsARejection() throws {
        let calls = calls
        let promise = firstly { () throws -> Int in
            calls.write("now")
            throw TestError.two
        }
        XCTAssertEqual(calls.entries, ["now"])
        XCTAssertEqual(failure(of: promise) as? TestError, .two)
    }

    func testAPromiseThatWouldWaitForItselfIsRejected() {
        let (promise, resolver) = Number.pending()
        resolver.follow(promise.map { $0 })
        guard case PromiseError.cycle? = failure(of: promise) else {
            return XCTFail("it waits for itself")
        }
    }
}
