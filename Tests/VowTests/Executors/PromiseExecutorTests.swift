// Tests of where handlers run: what they get without an executor, and with one.

import Dispatch
import Synchronization
import Vow
import XCTest

final class PromiseExecutorTests: VowTest {
    /// Marks the handlers that run on an executor of its own.
    private static let key = DispatchSpecificKey<Bool>()
    private let here: PromiseExecutor = {
        let queue = DispatchQueue(label: "here")
        queue.setSpecific(key: key, value: true)
        return .queue(queue)
    }()

    private static var isHere: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    func testWithoutAnExecutorItIsThePoolUntilAnotherOneIsSet() throws {
        XCTAssertEqual(PromiseExecutor.current, .pool)
        PromiseExecutor.setStandard(here)
        defer { PromiseExecutor.setStandard(nil) }
        XCTAssertEqual(PromiseExecutor.current, here)
        XCTAssertTrue(try Promise<Int, Never>.value(1).map { _ in Self.isHere }.wait())
        XCTAssertFalse(try Promise<Int, Never>.value(1).map(on: .pool) { _ in Self.isHere }.wait())
        PromiseExecutor.setStandard(nil)
        XCTAssertEqual(PromiseExecutor.current, .pool)
    }

    func testNothingNeedsTheMainQueueToRun() throws {
        XCTAssert(Thread.isMainThread)  // And it is blocked from here on.
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let end = promise.map { $0 + 1 }.get { _ in }.filter { $0 > 1 }
            .recover { _ in 0 }.finally {}.done { XCTAssertEqual($0, 2) }.catch { _ in }
        DispatchQueue.global().async { resolver.fulfill(1) }
        try end.wait(timeout: .seconds(60))
    }

    func testEveryMethodRunsItsHandlerWhereItIsTold() throws {
        let places = Journal<Bool>()
        @Sendable func note<Value>(_ value: Value) -> Value {
            places.write(Self.isHere)
            return value
        }
        let good = Promise<Int, any Error>.value(1)
        let bad = Promise<Int, any Error>.failure(TestError.one)
        let ends: [Promise<Int, any Error>] = [
            good.map(on: here) { note($0) },
            good.then(on: here) { .value(note($0)) },
            good.then(on: here) { Promise<Int, any Error>.value(note($0)) },
            good.get(on: here) { _ = note($0) },
            good.tap(on: here) { _ in _ = note(0) },
            good.transform(on: here) { _ in note(0) },
            bad.recover(on: here) { _ in note(0) },
            bad.recover(from: TestError.self, on: here) { _ in note(0) },
            bad.recover(from: TestError.one, on: here) { _ in note(0) },
            good.finally(on: here) { _ = note(0) },
            good.finally(on: here) { Promise<Int, any Error>.value(note(0)) },
            good.done(on: here) { _ = note($0) }.map { 0 },
            bad.catch(on: here) { _ in _ = note(0) }.map { 0 }.eraseFailure(),
            good.filter(on: here) { note($0) == 1 },
            good.compactMap(on: here) { note($0) },
            Promise(on: here) { note(1) },
            Promise(on: here) { Promise<Int, any Error>.value(note(1)) },
            Promise(on: here, resolving: { $0.fulfill(note(1)) }),
        ]
        for end in ends { try end.wait() }
        let (seen, sawLast) = Promise<Void, Never>.pending(orElse: ())
        good.onSuccess(on: here) { _ = note($0) }.onComplete(on: here) { _ in _ = note(0) }
        bad.onFailure(on: here) { _ in
            _ = note(0)
            sawLast.fulfill()
        }
        try seen.wait()
        eventually("all have run") { places.entries.count == ends.count + 3 }
        XCTAssertFalse(places.entries.contains(false))
    }

    func testAnInlineHandlerRunsAtOnce() {
        let journal = Journal<String>()
        let (promise, resolver) = Promise<Int, Never>.pending(orElse: 0)
        promise.onSuccess(on: .inline) { _ in journal.write("settled") }
        resolver.fulfill(1)
        XCTAssertEqual(journal.entries, ["settled"])
        promise.onSuccess(on: .inline) { _ in journal.write("attached") }
        XCTAssertEqual(journal.entries, ["settled", "attached"])
    }

    func testFirstlyAndAttemptRunHereAndNow() throws {
        let thread = Thread.current
        var places: [Bool] = []
        let first = firstly { () throws -> Promise<Int, any Error> in
            places.append(Thread.current === thread)
            throw TestError.one
        }
        let second = Promise<Int, any Error>.attempt {
            places.append(Thread.current === thread)
            return 2
        }
        XCTAssertEqual(places, [true, true])
        XCTAssertEqual(first.error as? TestError, .one)
        XCTAssertEqual(try second.wait(), 2)
    }

    func testABodyWithAResolverRunsNowOrOnItsExecutor() throws {
        let thread = Thread.current
        let now = Promise<Bool, any Error> { $0.fulfill(Thread.current === thread) }
        XCTAssertEqual(try now.result?.get(), true)
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        let later = Promise<Bool, any Error>(on: here) { resolver in
            _ = try? gate.wait(timeout: .seconds(60))
            resolver.fulfill(Self.isHere)
        }
        XCTAssert(later.isPending)
        opener.fulfill()
        XCTAssertTrue(try later.wait())
    }
}
