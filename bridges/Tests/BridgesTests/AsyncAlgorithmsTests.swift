// Tests VowAsyncAlgorithms.

import AsyncAlgorithms
import Vow
import VowAsyncAlgorithms
import XCTest

private func later(_ number: Int) -> Promise<Int, any Error> { Promise(on: .pool) { number } }

final class AsyncAlgorithmsTests: XCTestCase {
    func testAPromiseIsASequenceOfItsValue() async throws {
        var numbers: [Int] = []
        for try await number in later(1).values { numbers.append(number) }
        XCTAssertEqual(numbers, [1])
    }

    func testTypedFailuresStayTypedAndGuaranteesNeedNoTry() async {
        for await number in Guarantee.value(1).values { XCTAssertEqual(number, 1) }
        var iterator = Promise<Int, TestError>.failure(.one).values.makeAsyncIterator()
        do throws(TestError) {
            _ = try await iterator.next()
            XCTFail("it fails")
        } catch { XCTAssertEqual(error, .one) }
    }

    func testPromisesAreMergedZippedAndChained() async throws {
        let merged = try await merge(later(1).values, later(2).values).collected().value
        XCTAssertEqual(merged.sorted(), [1, 2])
        let zipped = try await zip(later(1).values, later(2).values).collected().value
        XCTAssertEqual(zipped.map { [$0, $1] }, [[1, 2]])
        let chained = try await chain(later(1).values, later(2).values).collected().value
        XCTAssertEqual(chained, [1, 2])
    }

    /// A thousand times, since the two meet in many ways.
    func testTheLatestPromiseCountsAndTheOneBeforeIsCancelled() async throws {
        for _ in 0..<1000 {
            let (cancelled, cancelling) = Promise<Void, any Error>.pending()
            let kept = Journal<PromiseResolver<Int, any Error>>()
            let (queries, typing) = AsyncStream<Int>.makeStream()
            let answers = queries.latest { number -> Promise<Int, any Error> in
                if number == 2 { return later(20) }
                return Promise { resolver in
                    resolver.onCancel { cancelling.fulfill() }
                    kept.write(resolver)
                    typing.yield(2)
                    typing.finish()
                }
            }
            typing.yield(1)
            let told = try await answers.collected().value
            XCTAssertEqual(told, [20])
            try await cancelled.value
        }
    }

    func testAFailureOfTheLatestPromiseOrOfItsMakingEndsTheIteration() async throws {
        for number in 0..<2 {
            let (queries, typing) = AsyncStream<Int>.makeStream()
            typing.yield(number)
            do {
                _ = try await queries.latest { number -> Promise<Int, TestError> in
                    if number == 1 { throw TestError.one }
                    return .failure(.one)
                }.collected().value
                XCTFail("it fails")
            } catch { XCTAssertEqual(error as? TestError, .one) }
        }
    }

    func testWhoLeavesEarlyCancelsThePromiseUnderWay() async throws {
        let (cancelled, cancelling) = Promise<Void, any Error>.pending()
        let kept = Journal<PromiseResolver<Int, any Error>>()
        let (queries, typing) = AsyncStream<Int>.makeStream()
        let answers = queries.latest { number -> Promise<Int, any Error> in
            if number == 1 { return later(10) }
            return Promise { resolver in
                resolver.onCancel { cancelling.fulfill() }
                kept.write(resolver)
            }
        }
        typing.yield(1)
        for try await number in answers {
            XCTAssertEqual(number, 10)
            typing.yield(2)
            while kept.entries.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            break
        }
        try await cancelled.value
    }

    func testASequenceIsAPromiseOfItsElementsOrOfItsFirst() async throws {
        let all = try await [1, 2, 3].async.collected().value
        XCTAssertEqual(all, [1, 2, 3])
        let first = try await [4, 5].async.firstElement().value
        XCTAssertEqual(first, 4)
        do {
            _ = try await [Int]().async.firstElement().value
            XCTFail("there is none")
        } catch PromiseError.noSuchElement {}
    }

    func testCancellingThePromiseEndsTheIteration() async throws {
        let (ended, ending) = Promise<Void, any Error>.pending()
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        continuation.onTermination = { _ in ending.fulfill() }
        stream.collected().cancel()
        try await ended.value
    }
}
