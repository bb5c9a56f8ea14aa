// Scenes of cancelling: which closures run, with what, and that all is through when the promise settles.
//
// In the journals "x!" is the producer of x who is told, "f<5" that f reads 5, "f>" that it returns, "f~" that its
// closure is freed, "!cancelled" the outcome.

import Foundation
import Vow
import XCTest

private typealias Lines = Journal<String>

/// Says when the closure that captures it is freed.
private final class Fate: Sendable {
    let (lines, name): (Lines, String)
    init(_ lines: Lines, _ name: String) { (self.lines, self.name) = (lines, name) }
    deinit { lines.write(name + "~") }

    func reads(_ input: some Sendable) {
        lines.write("\(name)<\(input is any Error ? "cancelled" : "\(input)")")
    }
}

/// Where a closure waits until the test has cancelled.
private final class Gate: Sendable {
    let (entered, open) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    func pass() {
        entered.signal()
        open.wait()
    }
}

private final class Source: Sendable {
    let resolver: PromiseResolver<Int, any Error>
    /// Somebody else's.
    let held: Promise<Int, any Error>?
    init(_ resolver: PromiseResolver<Int, any Error>, _ held: Promise<Int, any Error>?) {
        (self.resolver, self.held) = (resolver, held)
    }
}

/// Given away by the one closure that has it.
private final class Given: @unchecked Sendable {
    private var promise: Promise<Int, any Error>?
    init(_ promise: Promise<Int, any Error>) { self.promise = promise }
    func take() -> Promise<Int, any Error> {
        defer { promise = nil }
        return promise!
    }
}

final class QuietTests: VowTest {
    private func produced(_ lines: Lines, _ name: String, shared: Bool = false)
        -> (Promise<Int, any Error>, Source)
    {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { lines.write(name + "!") }
        return (promise, Source(resolver, shared ? promise : nil))
    }

    /// Sees the outcome of what is cancelled itself.
    private func see<Success>(_ promise: Promise<Success, any Error>, _ lines: Lines) {
        promise.onComplete(on: .inline) { result in
            switch result {
            case .success(let value): lines.write("!\(value)")
            case .failure(let error):
                lines.write(error is CancellationError ? "!cancelled" : "!\(error)")
            }
        }
    }

    private func expect<Success>(
        _ promise: Promise<Success, any Error>, _ lines: Lines, _ expected: String,
        _ what: String = "",
        line: UInt = #line
    ) {
        eventually("it settles") {
            !promise.isPending && lines.entries.contains { $0.hasPrefix("!") }
        }
        XCTAssertEqual(lines.entries.joined(separator: " "), expected, what, line: line)
    }

    func testG14_aThenIsCancelledWhileUpstreamIsPending() {
        for shared in [false, true] {
            let lines = Lines()
            let (end, source) = then(lines, shared: shared)
            see(end, lines)
            XCTAssertTrue(end.cancel())
            XCTAssertFalse(end.cancel())
            expect(end, lines, shared ? "f~ !cancelled" : "x! f~ !cancelled")
            XCTAssertEqual(source.held?.isPending, shared ? true : nil)
        }
    }

    private func then(_ lines: Lines, shared: Bool) -> (Promise<Int, any Error>, Source) {
        let (promise, source) = produced(lines, "x", shared: shared)
        let fate = Fate(lines, "f")
        return (
            promise.map(on: .inline) { number in
                fate.reads(number)
                return number
            }, source
        )
    }

    func testG15_catchAndFinallyReadTheCancellationOnTheWayDown() {
        for shared in [false, true] {
            let lines = Lines()
            let (end, source) = chain(lines, shared: shared)
            see(end, lines)
            XCTAssertTrue(end.cancel())
            let down = "r<cancelled r~ f<() f~ t~ !cancelled"
            expect(end, lines, shared ? down : "x! " + down)
            withExtendedLifetime(source) {}
        }
    }

    private func chain(_ lines: Lines, shared: Bool) -> (Promise<Int, any Error>, Source) {
        let (promise, source) = produced(lines, "x", shared: shared)
        return (then(finally(recover(promise, lines), lines), lines), source)
    }

    private func recover(_ promise: Promise<Int, any Error>, _ lines: Lines) -> Promise<
        Int, any Error
    > {
        let fate = Fate(lines, "r")
        return promise.recover(on: .inline) { error -> Int in
            fate.reads(error)
            return 7
        }
    }

    private func finally(
        _ promise: Promise<Int, any Error>, _ lines: Lines,
        cancelledBy token: CancellationToken? = nil
    ) -> Promise<Int, any Error> {
        let fate = Fate(lines, "f")
        return promise.finally(on: .inline, cancelledBy: token) { fate.reads(()) }
    }

    private func then(_ promise: Promise<Int, any Error>, _ lines: Lines) -> Promise<Int, any Error>
    {
        let fate = Fate(lines, "t")
        return promise.map(on: .inline) { number in
            fate.reads(number)
            return number
        }
    }

    func testG14_aClosureThatRunsReturnsFirst() {
        for executor in [PromiseExecutor.pool, .serial("quiet")] {
            let (lines, gate) = (Lines(), Gate())
            let end = running(lines, gate, executor)
            see(end, lines)
            gate.entered.wait()
            XCTAssertTrue(end.cancel())
            XCTAssertTrue(end.isPending)
            gate.open.signal()
            expect(end, lines, "f<5 f> f~ !cancelled")
        }
    }

    private func running(_ lines: Lines, _ gate: Gate, _ executor: PromiseExecutor)
        -> Promise<Void, any Error>
    {
        let fate = Fate(lines, "f")
        return Promise<Int, any Error>.value(5).map(on: executor) { number in
            fate.reads(number)
            gate.pass()
            lines.write("f>")
        }
    }

    func testWhatAClosureReturnedIsCancelledFirst() {
        for shared in [false, true] {
            let lines = Lines()
            let (end, source) = waiting(lines, shared: shared)
            see(end, lines)
            XCTAssertTrue(end.cancel())
            XCTAssertEqual(source.held?.isPending, shared ? true : nil)
            if shared {
                // It is waited for.
                XCTAssertTrue(end.isPending)
                XCTAssertTrue(source.resolver.fulfill(1))
            }
            expect(end, lines, shared ? "!cancelled" : "y! !cancelled")
        }
    }

    private func waiting(_ lines: Lines, shared: Bool) -> (Promise<Int, any Error>, Source) {
        let (promise, source) = produced(lines, "y", shared: shared)
        let given = Given(promise)
        return (Promise<Int, any Error>.value(5).then(on: .inline) { _ in given.take() }, source)
    }

    func testG15_aFinallyRunsInATimeOutAnAllAScopeAndByAToken() throws {
        for way in ["timeout", "all", "scope", "token"] {
            let lines = Lines()
            let token = CancellationSource()
            let resolver = try end(by: way, lines, token)
            XCTAssertEqual(lines.entries, ["x!", "f<()", "f~"], way)
            withExtendedLifetime(resolver) {}
        }
    }

    private func cleaned(_ lines: Lines, _ token: CancellationToken) -> (
        Promise<Int, any Error>, Source
    ) {
        let (promise, source) = produced(lines, "x")
        return (finally(promise, lines, cancelledBy: token), source)
    }

    private func end(by way: String, _ lines: Lines, _ token: CancellationSource) throws -> Source {
        switch way {
        case "timeout":
            let loop = try PromiseLoop.virtual()
            let (limited, source) = limited(lines, token.token)
            try loop.advance(by: .seconds(5))
            XCTAssertNotNil(limited.error)
            return source
        case "all":
            let (other, decides) = Promise<Int, any Error>.pending()
            let (all, source) = all(with: other, lines, token.token)
            decides.reject(TestError.one)
            XCTAssertEqual(failure(of: all) as? TestError, .one)
            return source
        case "scope":
            let scope = PromiseScope()
            let source = member(of: scope, lines, token.token)
            scope.cancel()
            try scope.close().wait()
            return source
        default:
            let (promise, source) = cleaned(lines, token.token)
            token.cancel()
            XCTAssertTrue(promise.error is CancellationError)
            return source
        }
    }

    private func limited(_ lines: Lines, _ token: CancellationToken) -> (
        Promise<Int, any Error>, Source
    ) {
        let (promise, source) = cleaned(lines, token)
        return (promise.timeout(.seconds(5)), source)
    }

    private func all(
        with other: Promise<Int, any Error>, _ lines: Lines, _ token: CancellationToken
    )
        -> (Promise<[Int], any Error>, Source)
    {
        let (promise, source) = cleaned(lines, token)
        return (Promise.all([promise, other]), source)
    }

    private func member(of scope: PromiseScope, _ lines: Lines, _ token: CancellationToken)
        -> Source
    {
        let (promise, source) = cleaned(lines, token)
        scope.add(promise)
        return source
    }

    func testG15_aFinallyRunsExactlyOnceWhoeverIsQuicker() {
        let calls = Journal<Int>()
        for round in 0..<500 {
            let (end, resolver) = raced(calls, round)
            let other = Thread { end.cancel() }
            other.start()
            resolver.fulfill(1)
            eventually("it settles") { !end.isPending }
            XCTAssertEqual(calls.entries.count, round + 1)
            eventually("the other thread is through") { other.isFinished }
        }
    }

    private func raced(_ calls: Journal<Int>, _ round: Int) -> (
        Promise<Int, any Error>, PromiseResolver<Int, any Error>
    ) {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let executor = round.isMultiple(of: 2) ? PromiseExecutor.inline : .pool
        return (promise.finally(on: executor) { calls.write(round) }, resolver)
    }
}
