// Tests of fibers: synchronous code whose waits give its thread back.

import Dispatch
import Foundation
import Synchronization
import Vow
import XCTest

final class FiberTests: VowTest {
    func testAFibersPromiseHasItsResultOrItsError() throws {
        XCTAssertEqual(try Promise.fiber { 3 }.wait(), 3)
        let typed = Promise<Int, TestError>.fiber { () throws(TestError) in throw .two }
        XCTAssertEqual(failure(of: typed) as? TestError, .two)
        let any = Promise<Int, any Error>.fiber(on: .pool) { throw TestError.one }
        XCTAssertEqual(failure(of: any) as? TestError, .one)
        let sure: Guarantee<String> = .fiber { "sure" }
        XCTAssertEqual(try sure.wait(), "sure")
    }

    func testAWrongStackRejects() {
        for stack in [-1, 0, 1 << 31] {
            guard
                case .invalidArgument? = failure(
                    of: Promise<Int, any Error>.fiber(stack: stack) { 1 })
                    as? PromiseError
            else {
                XCTFail("a stack of \(stack) bytes is accepted")
                continue
            }
        }
    }

    func testAFiberHasTheStackThatItAsksFor() throws {
        let deep = Promise.fiber(on: .pool, stack: 4 << 20) { depth(of: 1_000) }
        XCTAssertEqual(try deep.wait(), 1_000)
    }

    func testAWaitThrowsThePromisesFailureAndTheTimeOut() throws {
        let loop = try PromiseLoop.virtual()
        let (never, resolver) = Promise<Int, any Error>.pending()
        let fiber = Promise<[String], any Error>.fiber(on: loop.executor) {
            var seen: [String] = []
            do { try never.wait(timeout: .seconds(5)) } catch { seen.append("\(error)") }
            do { try Promise<Int, any Error>.failure(TestError.two).wait() } catch {
                seen.append("\(error)")
            }
            return seen
        }
        XCTAssertEqual(try loop.run(until: fiber), ["it took too long", "two"])
        resolver.fulfill(1)
    }

    func testAThousandFibersOfALoopWaitAtOnceOnOneThread() throws {
        let loop = try PromiseLoop.virtual()
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let arrived = Atomic(0)
        let thread = pthread_self()
        let fibers = (0..<1_000).map { number in
            Promise<Int, any Error>.fiber(on: loop.executor) {
                arrived.add(1, ordering: .relaxed)
                let value = try gate.wait()
                try Promise<Void, any Error>.delay(.seconds(number % 7)).wait()
                return thread == pthread_self() ? value + number : -1
            }
        }
        try loop.runOnce(timeout: .zero)
        while arrived.load(ordering: .relaxed) < 1_000 { try loop.runOnce(timeout: .zero) }
        XCTAssertTrue(fibers.allSatisfy(\.isPending))
        resolver.fulfill(10)
        XCTAssertEqual(try loop.run(until: Promise.all(fibers)), (0..<1_000).map { $0 + 10 })
    }

    func testMoreFibersThanThreadsWaitOnThePool() throws {
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let arrived = Atomic(0)
        let fibers = (0..<3_000).map { _ in
            Promise<Int, any Error>.fiber(on: .pool) {
                arrived.add(1, ordering: .relaxed)
                return try gate.wait()
            }
        }
        // More threads than libdispatch has.
        eventually("all fibers wait") { arrived.load(ordering: .relaxed) == 3_000 }
        resolver.fulfill(1)
        XCTAssertEqual(try Promise.all(fibers).wait().reduce(0, +), 3_000)
    }

    func testAFiberThatChangesThreadsInAScopesBodyLeavesTheScopeOnItsNewThread() throws {
        let threads = PromiseExecutor.custom { work in Thread.detachNewThread { work() } }
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let fiber = Promise<Int, any Error>.fiber(on: threads) {
            let inside = withPromiseScope(deadline: .milliseconds(1)) { scope in
                let late = scope.start(on: .pool) {
                    Promise<Void, any Error>.delay(.seconds(3_600))
                }
                late.catch(on: .inline) { _ in resolver.fulfill(1) }
                return .value(try gate.wait())
            }
            XCTAssertThrowsError(try inside.wait())
            // Under the scope it would be rejected: the deadline has passed.
            try Promise<Void, any Error>.delay(.milliseconds(1)).wait()
            return 1
        }
        XCTAssertEqual(try fiber.wait(), 1)
    }

    func testAFiberWaitsForTheFibersThatItMakes() throws {
        @Sendable func sum(_ from: Int, _ to: Int) throws -> Int {
            if to - from == 1 { return from }
            let middle = (from + to) / 2
            let lower = Promise<Int, any Error>.fiber { try sum(from, middle) }
            let upper = Promise<Int, any Error>.fiber { try sum(middle, to) }
            return try lower.wait() + upper.wait()
        }
        let loop = try PromiseLoop.virtual()
        let onLoop = Promise<Int, any Error>.fiber(on: loop.executor) { try sum(0, 100) }
        XCTAssertEqual(try loop.run(until: onLoop), 4_950)
        XCTAssertEqual(
            try Promise<Int, any Error>.fiber(on: .pool) { try sum(0, 100) }.wait(), 4_950)
    }

    func testACancelledFibersWaitsThrowButForShields() throws {
        let loop = try PromiseLoop.virtual()
        let (never, resolver) = Promise<Int, any Error>.pending()
        let journal = Journal<String>()
        let fiber = Promise<Int, any Error>.fiber(on: loop.executor) {
            do { try never.wait() } catch { journal.write("\(type(of: error))") }
            do { try loop.run(until: never) } catch { journal.write("\(type(of: error))") }
            try Promise<Void, any Error>.delay(.seconds(1)).shielded().wait()
            journal.write("cleaned up")
            return 1
        }
        try loop.runOnce(timeout: .zero)
        XCTAssertTrue(fiber.cancel())
        XCTAssertTrue(fiber.isPending)
        XCTAssertThrowsError(try loop.run(until: fiber)) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(
            journal.entries, ["CancellationError", "CancellationError", "cleaned up"])
        resolver.fulfill(1)
    }

    func testAWaitThatCannotEndSaysWhy() throws {
        let loop = try PromiseLoop.virtual()
        let own = Guarded<Promise<Int, any Error>?>(nil)
        let ring = Promise<Int, any Error>.fiber(on: loop.executor) {
            try own.withLock { $0 }?.wait() ?? 0
        }
        own.withLock { $0 = ring }
        XCTAssertThrowsError(try loop.run(until: ring)) {
            guard case PromiseError.cycle = $0 else { return XCTFail("\($0)") }
        }
        own.withLock { $0 = nil }

        var ending: PromiseLoop? = try PromiseLoop.virtual()
        let (first, resolver) = Promise<Int, any Error>.pending()
        let never = Promise<Int, any Error>.pending()
        let left = Promise<Int, any Error>.fiber(on: ending?.executor) {
            try first.wait() + never.promise.wait()
        }
        try ending?.runOnce(timeout: .zero)
        ending = nil
        resolver.fulfill(1)
        guard case .shutDown? = failure(of: left) as? PromiseError else {
            return XCTFail("\(String(describing: left.result))")
        }
    }

    func testAFibersClosureIsGoneWhenItsPromiseSettles() throws {
        let loop = try PromiseLoop.virtual()
        let before = Tracker.living
        let tracker = Guarded<Tracker?>(Tracker())
        let fiber = tracker.withLock { tracker in
            defer { tracker = nil }
            return Promise<Int, any Error>.fiber(on: loop.executor) { [tracker] in
                try Promise<Void, any Error>.delay(.seconds(1)).wait()
                return tracker == nil ? 0 : Tracker.living - before
            }
        }
        let living = fiber.map(on: .inline) { [$0, Tracker.living - before] }
        XCTAssertEqual(try loop.run(until: living), [1, 0])
    }

    func testAFiberThatYieldsLetsTheOthersGoFirst() throws {
        let loop = try PromiseLoop.virtual()
        let journal = Journal<String>()
        let fibers = ["a", "b"].map { name in
            Promise<Void, any Error>.fiber(on: loop.executor) {
                for turn in 0..<3 {
                    journal.write("\(name)\(turn)")
                    XCTAssertTrue(PromiseFiber.yield())
                }
            }
        }
        try loop.run(until: Promise.all(fibers))
        XCTAssertEqual(journal.entries, ["a0", "b0", "a1", "b1", "a2", "b2"])
        XCTAssertFalse(PromiseFiber.yield())
    }

    @MainActor
    func testTheMainActorsWorkGoesOnWhileFibersWaitOnTheMainThread() throws {
        try expectServed { loop, promise in .fiber(on: loop) { try promise.wait() } }
    }

    @MainActor
    func testTheMainActorsWorkGoesOnWhileHandlersOfALoopWaitOnTheMainThread() throws {
        try expectServed { loop, promise in
            Promise<Int, any Error>.value(0).map(on: loop) { _ in try promise.wait() }
        }
    }

    /// Two waits, that of the first function's promise ends first; each needs the main actor, and so does the end.
    @MainActor
    private func expectServed(
        _ begin: (PromiseExecutor, Promise<Int, any Error>) -> Promise<Int, any Error>
    ) throws {
        let loop = try PromiseLoop()
        let (first, resolver) = Promise<Int, any Error>.pending()
        let (second, other) = Promise<Int, any Error>.pending()
        let waits = [begin(loop.executor, first), begin(loop.executor, second)]
        let timer = Promise<Void, any Error>.delay(.milliseconds(1))
        let served = timer.map(on: .pool) {}.map(on: .mainActor) { resolver.fulfill(1) }
        let next = waits[0].map(on: .pool) { $0 }.map(on: .mainActor) { other.fulfill($0 + 1) }
        let last = waits[1].map(on: .pool) { $0 }.map(on: .mainActor) { $0 + 1 }
        XCTAssertEqual(try loop.run(until: last), 3)
        XCTAssertTrue(try served.wait())
        XCTAssertTrue(try next.wait())
    }

    func testAFiberOfTheMainActorsExecutorIsIsolatedToIt() async throws {
        let counter = await MainCounter()
        let (gate, resolver) = Promise<Int, any Error>.pending()
        let fiber = Promise<Int, any Error>.fiber(on: .mainActor) {
            let value = try gate.wait()
            return MainActor.assumeIsolated { counter.add(value) }
        }
        resolver.fulfill(4)
        let sum = try await fiber.value
        XCTAssertEqual(sum, 4)
    }
}

@MainActor private final class MainCounter {
    private var sum = 0
    func add(_ value: Int) -> Int {
        sum += value
        return sum
    }
}

/// As many calls inside each other.
private func depth(of calls: Int) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { _ in
        calls == 0 ? 0 : 1 + depth(of: calls - 1)
    }
}
