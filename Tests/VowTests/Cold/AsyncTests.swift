// Tests of descriptions of work: when they run, how often, and what comes of it.

import Dispatch
import Vow
import XCTest

final class AsyncTests: VowTest {
    func testNothingRunsBeforeItIsExecuted() throws {
        let runs = Journal<String>()
        let length = Async<String> { resolver in
            runs.write("fetch")
            resolver.fulfill("page")
        }
        .map { text -> Int in
            runs.write("measure")
            return text.count
        }
        .flatMap { count -> Async<Int> in
            runs.write("describe more")
            return .value(count * 10)
        }
        XCTAssertEqual(runs.entries, [])
        XCTAssertEqual(try length.promise().wait(), 40)
        XCTAssertEqual(runs.entries, ["fetch", "measure", "describe more"])
    }

    func testEachExecutionRunsEverythingAgain() throws {
        let runs = Journal<Int>()
        let results = Journal<Int>()
        let work = Async<Int> { resolver in
            runs.write(0)
            resolver.fulfill(runs.entries.count)
        }
        .map { $0 * 100 }
        for _ in 0..<3 {
            try work.execute { results.write((try? $0.get()) ?? -1) }.wait()
        }
        XCTAssertEqual(runs.entries.count, 3)
        eventually("all are through") { results.entries.count == 3 }
        // Each callback is work of the pool by itself.
        XCTAssertEqual(results.entries.sorted(), [100, 200, 300])
    }

    func testTheCallbackIsGivenFailures() {
        let results = Journal<TestError?>()
        Async<Int>.failure(TestError.one).execute(on: .inline) { result in
            if case .failure(let error) = result { results.write(error as? TestError) }
        }
        XCTAssertEqual(results.entries, [.one])
    }

    func testTheFirstAnswerOfABodyCounts() throws {
        let answers = Journal<Bool>()
        let work = Async<Int> { resolver in
            answers.write(resolver.fulfill(1))
            answers.write(resolver.fulfill(2))
            answers.write(resolver.reject(TestError.one))
        }
        XCTAssertEqual(try work.promise().wait(), 1)
        XCTAssertEqual(answers.entries, [true, false, false])
    }

    func testWhatABodyOrATransformThrowsIsTheFailure() {
        let body = Async<Int> { _ in throw TestError.one }
        XCTAssertEqual(failure(of: body.promise()) as? TestError, .one)
        let mapped = Async.value(1).map { _ -> Int in throw TestError.two }
        XCTAssertEqual(failure(of: mapped.promise()) as? TestError, .two)
        let flatMapped = Async.value(1).flatMap { _ -> Async<Int> in throw TestError.three }
        XCTAssertEqual(failure(of: flatMapped.promise()) as? TestError, .three)
    }

    func testABodyThatNeverAnswersIsBroken() {
        let forgetful = Async<Int> { _ in }
        guard case PromiseError.broken? = failure(of: forgetful.promise()) else {
            return XCTFail("an answer out of nothing")
        }
    }

    func testAFailureGoesToTheNextRecover() throws {
        let runs = Journal<Int>()
        let work = Async<Int>.failure(TestError.one).map { number -> Int in
            runs.write(number)
            return number
        }
        XCTAssertEqual(try work.recover { _ in 7 }.promise().wait(), 7)
        XCTAssertEqual(try work.recover { _ in .value(8) }.map { $0 + 1 }.promise().wait(), 9)
        let again = work.recover { _ in throw TestError.two }
        XCTAssertEqual(failure(of: again.promise()) as? TestError, .two)
        XCTAssertEqual(try Async.value(1).recover { _ in 7 }.promise().wait(), 1)
        XCTAssertEqual(runs.entries, [])
    }

    func testAPromiseAsADescriptionHasItsOneResult() throws {
        let runs = Journal<Int>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let work = Async(
            promise.map { number -> Int in
                runs.write(number)
                return number
            })
        let both = [work.map { $0 + 1 }.promise(), work.map { $0 + 2 }.promise()]
        resolver.fulfill(10)
        XCTAssertEqual(try both.map { try $0.wait() }, [11, 12])
        XCTAssertEqual(runs.entries, [10])
    }

    func testARunOnAnExecutorOrOfAPromise() throws {
        XCTAssertEqual(try Async(on: .pool) { 3 }.promise().wait(), 3)
        let made = Async<Int>(making: { Promise(on: .pool) { 4 } })
        XCTAssertEqual(try made.promise().wait(), 4)
        let never = Async<Int>(making: { throw TestError.one })
        XCTAssertEqual(failure(of: never.promise()) as? TestError, .one)
        try Async.value.promise().wait()
    }

    func testImplicitMembersAreFound() throws {
        let work = Async.unit(2).flatMap { number in
            if number > 1 { return .value("many") }
            return Async<String>.failure(TestError.one)
        }
        XCTAssertEqual(try work.promise().wait(), "many")
        let short: Async<Int> = Async.value(1).flatMap { .unit($0 + 1) }
        XCTAssertEqual(try short.promise().wait(), 2)
    }

    func testCancellingARunStopsItsWorkAndNoOther() throws {
        let resolvers = Guarded<[PromiseResolver<Int, any Error>]>([])
        let stopped = Journal<Int>()
        let work = Async<Int> { resolver in
            let number = resolvers.withLock { all in
                all.append(resolver)
                return all.count
            }
            resolver.onCancel { stopped.write(number) }
        }
        .map { $0 + 1 }
        let first = work.promise()
        let second = work.promise()
        XCTAssertTrue(first.cancel())
        XCTAssertTrue(failure(of: first) is CancellationError)
        XCTAssertEqual(stopped.entries, [1])
        resolvers.withLock { $0[1] }.fulfill(5)
        XCTAssertEqual(try second.wait(), 6)
        XCTAssertEqual(stopped.entries, [1])
        resolvers.withLock { $0.removeAll() }
    }

    func testWhatItCapturesIsFreedWithIt() throws {
        do {
            let tracker = Tracker()
            let work = Async.value(1).map { number in
                withExtendedLifetime(tracker) { number + 1 }
            }
            XCTAssertEqual(try work.promise().wait(), 2)
            XCTAssertEqual(Tracker.living, 1)
        }
        eventually("the closure is gone") { Tracker.living == 0 }
    }

    func testRecursionThroughFlatMapIsFlat() throws {
        @Sendable func countDown(_ number: Int) -> Async<Int> {
            if number == 0 { return .value(0) }
            return Async.value(number).flatMap(on: .inline) { countDown($0 - 1) }
        }
        XCTAssertEqual(try countDown(100_000).promise().wait(), 0)
    }
}
