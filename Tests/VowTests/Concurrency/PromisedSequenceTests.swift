// Tests of promises of an asynchronous sequence's elements.

import Vow
import XCTest

final class PromisedSequenceTests: VowTest {
    private func numbers(_ count: Int) -> AsyncStream<Int> {
        AsyncStream { continuation in
            for number in 0..<count { continuation.yield(number) }
            continuation.finish()
        }
    }

    private func collect<Success>(
        _ sequence: PromisedSequence<AsyncStream<Int>, Success>
    ) async throws -> [Success] {
        try await sequence.reduce(into: []) { $0.append($1) }
    }

    func testTheValuesComeInTheOrderOfTheElements() async throws {
        let members = PendingMembers(10, of: Int.self)
        let resolvers = members.resolvers
        let values = numbers(10).promises(concurrency: 10) { [promises = members.promises] in
            promises[$0]
        }
        Task { for number in (0..<10).reversed() { resolvers[number].fulfill(number) } }
        let got = try await collect(values)
        XCTAssertEqual(got, Array(0..<10))
    }

    func testNoMoreThanSoManyAreUnderWay() async throws {
        let counts = Guarded((now: 0, most: 0))
        let values = numbers(1_000).promises(concurrency: 3) { number in
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            return Promise<Int, any Error>(on: .pool) { number }.tap { _ in
                counts.withLock { $0.now -= 1 }
            }
        }
        let got = try await collect(values)
        XCTAssertEqual(got, Array(0..<1_000))
        let most = counts.withLock { $0.most }
        XCTAssertTrue((1...3).contains(most), "\(most) at once")
    }

    func testAnElementIsAskedForWhenThereIsRoom() async throws {
        let made = Journal<Int>()
        let (gate, resolver) = Promise<Void, any Error>.pending()
        let values = numbers(9).promises(concurrency: 2) { number in
            made.write(number)
            return gate.map(on: .inline) { number }
        }
        var iterator = values.makeAsyncIterator()
        eventually("two are under way") { made.entries.count == 2 }
        resolver.fulfill()
        for number in 0..<9 {
            let next = try await iterator.next()
            XCTAssertEqual(next, number)
            XCTAssertLessThanOrEqual(made.entries.count, number + 3)
        }
        let end = try await iterator.next()
        XCTAssertNil(end)
    }

    func testAFailureComesInItsTurnAndEndsTheIteration() async throws {
        let values = numbers(5).promises(concurrency: 5) { number in
            number == 2
                ? Promise<Int, any Error>.failure(TestError.two) : .value(number)
        }
        var iterator = values.makeAsyncIterator()
        var got: [Int] = []
        do {
            while let next = try await iterator.next() { got.append(next) }
            XCTFail("no failure")
        } catch { XCTAssertEqual(error as? TestError, .two) }
        XCTAssertEqual(got, [0, 1])
        let rest = try await iterator.next()
        XCTAssertNil(rest)
    }

    func testWhatTheFunctionOrTheSequenceThrowsComesBehindWhatWasMade() async throws {
        let thrown = numbers(3).promises(concurrency: 1) {
            number throws -> Promise<Int, any Error> in
            if number == 1 { throw TestError.one }
            return .value(number)
        }
        let failing = AsyncThrowingStream<Int, any Error> { continuation in
            continuation.yield(0)
            continuation.finish(throwing: TestError.one)
        }.promises(concurrency: 2) { Promise<Int, Never>.value($0) }
        var (first, second) = (thrown.makeAsyncIterator(), failing.makeAsyncIterator())
        let values = [try await first.next(), try await second.next()]
        XCTAssertEqual(values, [0, 0])
        for next in [{ try await first.next() }, { try await second.next() }] {
            do {
                _ = try await next()
                XCTFail("no failure")
            } catch { XCTAssertEqual(error as? TestError, .one) }
            let rest = try await next()
            XCTAssertNil(rest)
        }
    }

    func testBehindTheFailureThatEndedItComesNoOther() async throws {
        let asked = Journal<Int>()
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let values = numbers(2).promises(concurrency: 2) { number throws in
            asked.write(number)
            if number == 1 { throw TestError.one }
            return gate
        }
        var iterator = values.makeAsyncIterator()
        eventually("the second one has failed") { asked.entries == [0, 1] }
        resolver.reject(TestError.two)
        do {
            _ = try await iterator.next()
            XCTFail("no failure")
        } catch { XCTAssertEqual(error as? TestError, .two) }
        let rest = try await iterator.next()
        XCTAssertNil(rest)
    }

    func testWhoLeavesEarlyLetsGoOfWhatIsUnderWay() async throws {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let handedOut = Guarded(members!.promises.map(Optional.some))
        members = nil
        let values = numbers(3).promises(concurrency: 3) { number in
            handedOut.withLock { $0[number].take()! }
        }
        resolvers[0].fulfill(0)
        for try await value in values {
            XCTAssertEqual(value, 0)
            eventually("all are made") { handedOut.withLock { $0.allSatisfy { $0 == nil } } }
            break
        }
        eventually("the others are cancelled") { cancelled.entries.sorted() == [1, 2] }
    }

    func testACancelledTaskIsTold() async {
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let values = numbers(3).promises(concurrency: 1) { _ in gate }
        let task = Task { try await values.reduce(0, +) }
        task.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
        resolver.fulfill(0)
    }

    func testABoundOfNoneIsRefused() async throws {
        for bound in [0, -1] {
            let values = numbers(3).promises(concurrency: bound) { number in
                Promise<Int, any Error>.value(number)
            }
            var iterator = values.makeAsyncIterator()
            do {
                _ = try await iterator.next()
                XCTFail("a bound of \(bound) was taken")
            } catch PromiseError.invalidArgument(let text) {
                XCTAssertTrue(text.contains("promises") && text.contains("\(bound)"), text)
            }
            let next = try await iterator.next()
            XCTAssertNil(next)
        }
    }

    func testTasksThatShareAnIterationTakeTurnsAndNoneWaitsForEver() async throws {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let values = stream.promises(concurrency: 3) { number in
            Promise<Int, any Error>(on: .pool) { number }
        }
        nonisolated(unsafe) let iterator = values.makeAsyncIterator()
        let taken = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var mine = iterator
                    var numbers: [Int] = []
                    while let number = try await mine.next() { numbers.append(number) }
                    return numbers
                }
            }
            for number in 0..<1_000 { continuation.yield(number) }
            continuation.finish()
            return try await group.reduce(into: []) { $0 += $1 }
        }
        XCTAssertEqual(taken.sorted(), Array(0..<1_000))
    }
}
