// Tests of asynchronous closures as handlers.

import Synchronization
import Vow
import XCTest

private enum LoginError: PromiseFailure {
    case refused, lost

    init(promiseError _: any Error) { self = .lost }
}
private struct Refused: Error {}

private enum Request {
    @TaskLocal static var number = 0
}

@MainActor private final class Screen {
    var title: String

    init(_ title: String) { self.title = title }

    func follow(_ promise: Promise<String, any Error>) -> Promise<Int, any Error> {
        promise.map { text in
            self.title = text
            await Task.yield()
            self.title += "!"
            return self.title.count
        }
    }
}

private actor Ledger {
    private(set) var lines: [Int] = []

    func follow(_ promise: Promise<Void, any Error>, _ count: Int) -> [Promise<Void, any Error>] {
        (0..<count).map { number in
            promise.done {
                self.lines.append(number)
                await Task.yield()
            }
        }
    }
}

final class AsyncHandlersTests: VowTest {
    func testEachHandlerMayBeAsynchronous() async throws {
        let promise = Promise<Int, any Error>.value(1)
        let sum =
            promise
            .map { number in
                await Task.yield()
                return number + 1
            }
            .get { _ in await Task.yield() }
            .then { number in
                await Task.yield()
                return Promise<Int, any Error>.value(number + 1)
            }
            .finally { await Task.yield() }
        let value = try await sum.value
        XCTAssertEqual(value, 3)
        let lines = Journal<String>()
        let end =
            promise
            .done { number in
                try await Task.sleep(for: .zero)
                lines.write("done \(number)")
                throw Refused()
            }
            .recover { error in
                await Task.yield()
                lines.write("recover")
                throw error
            }
            .catch { error in
                await Task.yield()
                lines.write("catch \(error is Refused)")
            }
        await end.value
        XCTAssertEqual(lines.entries, ["done 1", "recover", "catch true"])
    }

    func testAPromiseOfAnActorsClosureRunsThereThroughout() async throws {
        let screen = await Screen("")
        let count = try await screen.follow(.value("hello")).value
        XCTAssertEqual(count, 6)
        let title = await screen.title
        XCTAssertEqual(title, "hello!")
    }

    func testTypedFailuresStayTyped() async {
        let typed = Promise<Int, LoginError>.value(1).map { number async throws(LoginError) in
            await Task.yield()
            if number > 0 { throw .refused }
            return number
        }
        guard case .failure(.refused) = await typed.settled else { return XCTFail("it passed") }
        let link = Guarantee.value(1).map { number in
            await Task.yield()
            return number + 1
        }
        let sure = await link.value
        XCTAssertEqual(sure, 2)
    }

    func testTaskLocalsAndPriorityAreThoseOfWhoAttached() async throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let task = Task(priority: .high) {
            Request.$number.withValue(7) {
                promise.map { number in
                    await Task.yield()
                    return (number + Request.number, Task.currentPriority)
                }
            }
        }
        let link = await task.value
        await Task.detached(priority: .low) { _ = resolver.fulfill(1) }.value
        let (sum, priority) = try await link.value
        XCTAssertEqual(sum, 8)
        XCTAssertGreaterThanOrEqual(priority, .high)
    }

    func testHandlersAttachedInAnActorRunThere() async throws {
        let ledger = Ledger()
        let (promise, resolver) = Promise<Void, any Error>.pending()
        let all = await ledger.follow(promise, 20)
        resolver.fulfill()
        for each in all { try await each.value }
        let lines = await ledger.lines
        XCTAssertEqual(lines.sorted(), Array(0..<20))
    }

    func testG14_cancellingTheLinkCancelsItsTaskAndWaitsForIt() async {
        let lines = Journal<String>()
        let (begun, begins) = Promise<Void, any Error>.pending()
        let link = Promise<Int, any Error>.value(1).map { number in
            begins.fulfill()
            while !Task.isCancelled { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            lines.write("the task ends")
            return number
        }
        link.onComplete(on: .inline) { result in
            if case .failure(let error) = result, error is CancellationError {
                lines.write("the link is cancelled")
            }
        }
        _ = await begun.settled
        XCTAssertTrue(link.cancel())
        _ = await link.settled
        eventually("it is told") { lines.entries.count == 2 }
        XCTAssertEqual(lines.entries, ["the task ends", "the link is cancelled"])
    }

    func testATokenCancelsTheTask() async {
        let source = CancellationSource()
        let (ended, ends) = Promise<Void, Never>.pending(orElse: ())
        let (begun, begins) = Promise<Void, Never>.pending(orElse: ())
        let link = Promise<Int, any Error>.value(1).done(cancelledBy: source.token) { _ in
            begins.fulfill()
            while !Task.isCancelled { await Task.yield() }
            ends.fulfill()
        }
        await begun.value
        source.cancel()
        await ended.value
        guard case .failure(is CancellationError) = await link.settled else {
            return XCTFail("it was not cancelled")
        }
    }

    func testG14_theClosureIsFreedBeforeThePromiseSettles() async throws {
        for _ in 0..<20 {
            let isFreed = Freed()
            let link: Promise<Void, any Error>
            do {
                let fate = Fate(isFreed)
                link = Promise<Int, any Error>.value(1).done { _ in
                    await Task.yield()
                    withExtendedLifetime(fate) {}
                }
            }
            let wasFreed = link.map(on: .inline) { isFreed.isFreed }
            let value = try await wasFreed.value
            XCTAssertTrue(value)
        }
    }

    func testAHandlerThatIsPassedByIsFreedAndItsTaskEnds() async {
        let before = Tracker.living
        let link: Promise<Void, any Error>
        do {
            let tracker = Tracker()
            link = Promise<Int, any Error>.failure(Refused()).done { _ in
                await Task.yield()
                XCTFail("there is no value")
                withExtendedLifetime(tracker) {}
            }
        }
        guard case .failure(is Refused) = await link.settled else { return XCTFail("it passed") }
        eventually("the closure is freed") { Tracker.living == before }
    }

    func testG15_aFinallyOfALinkThatIsCancelledRunsToItsEnd() async {
        let lines = Journal<String>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let end = promise.map { number in
            await Task.yield()
            lines.write("map")
            return number
        }.finally {
            for _ in 0..<10 { await Task.yield() }
            lines.write("clean-up, cancelled: \(Task.isCancelled)")
        }
        XCTAssertTrue(end.cancel())
        guard case .failure(is CancellationError) = await end.settled else {
            return XCTFail("it was not cancelled")
        }
        XCTAssertEqual(lines.entries, ["clean-up, cancelled: false"])
        resolver.fulfill(1)
    }

    func testAUseMayBeAsynchronous() async throws {
        let lines = Journal<String>()
        let outcome = Promise<Int, any Error>.value(1).using { number in
            await Task.yield()
            lines.write("use")
            return number + 1
        } release: { number in
            await Task.yield()
            lines.write("release \(number)")
        }
        let value = try await outcome.value
        XCTAssertEqual(value, 2)
        XCTAssertEqual(lines.entries, ["use", "release 1"])
        let (begun, begins) = Promise<Void, Never>.pending(orElse: ())
        let cancelled = Promise<Int, any Error>.value(2).using { number in
            begins.fulfill()
            while !Task.isCancelled { await Task.yield() }
            lines.write("use ends")
            return number
        } release: { number in
            await Task.yield()
            lines.write("release \(number)")
        }
        await begun.value
        cancelled.cancel()
        guard case .failure(is CancellationError) = await cancelled.settled else {
            return XCTFail("it was not cancelled")
        }
        XCTAssertEqual(lines.entries, ["use", "release 1", "use ends", "release 2"])
    }
}

private final class Freed: Sendable {
    private let flag = Atomic(false)
    var isFreed: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}

private final class Fate: Sendable {
    private let freed: Freed
    init(_ freed: Freed) { self.freed = freed }
    deinit { freed.set() }
}
