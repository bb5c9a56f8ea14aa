// Tests of the limit on handlers at a time.

import Synchronization
import Vow
import XCTest

final class LimitedExecutorTests: VowTest {
    func testNoMoreThanTheLimitRunAtATime() throws {
        for limit in [1, 2, 3] {
            let gauge = Gauge()
            let executor = PromiseExecutor.limited(to: limit, on: .pool)
            let all = (0..<100).map { _ in
                Promise<Void, Never>(on: executor) { gauge.within { usleep(20) } }
            }
            for promise in all { try promise.wait() }
            XCTAssertLessThanOrEqual(gauge.highest, limit)
            XCTAssertGreaterThan(gauge.highest, 0)
        }
    }

    func testAllOfTheLimitIsUsed() throws {
        let executor = PromiseExecutor.limited(to: 3, on: .pool)
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        let gauge = Gauge()
        let all = (0..<9).map { _ in
            Promise<Void, any Error>(on: executor) {
                gauge.within { _ = try? gate.wait(timeout: .seconds(60)) }
            }
        }
        eventually("three of them run") { gauge.highest == 3 }
        opener.fulfill()
        for promise in all { try promise.wait() }
        XCTAssertEqual(gauge.highest, 3)
    }

    func testALimitOfOneIsSerialAndInOrder() throws {
        let executor = PromiseExecutor.limited(to: 1, on: .pool)
        let journal = Journal<Int>()
        let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
        let last = (0..<1_000).map { number in
            promise.map(on: executor) { journal.write(number) }
        }.last
        resolver.fulfill()
        try last?.wait()
        XCTAssertEqual(journal.entries, Array(0..<1_000))
        let outer = Promise<Int, any Error>(on: executor) {
            try Promise<Int, Never>(on: executor) { 1 }.wait()
        }
        guard case PromiseError.deadlock? = failure(of: outer) else {
            return XCTFail("it was not refused")
        }
    }

    func testItWorksOnEveryExecutor() throws {
        for base in [.inline, .pool, .serial(), .limited(to: 2, on: .pool)] as [PromiseExecutor] {
            let executor = PromiseExecutor.limited(to: 1, on: base)
            let sum = (1...50).reduce(Promise<Int, Never>.value(0)) { sum, number in
                sum.map(on: executor) { $0 + number }
            }
            XCTAssertEqual(try sum.wait(), 1275)
        }
    }

    func testHandlersThatTheOtherExecutorLosesGiveTheirTurnBack() throws {
        let isCareless = Switch()
        let base = PromiseExecutor.custom { work in
            if isCareless.isOn { return }
            work()
        }
        let executor = PromiseExecutor.limited(to: 1, on: base)
        let lost = Promise<Int, any Error>(on: executor) { 1 }
        guard case PromiseError.shutDown? = failure(of: lost) else {
            return XCTFail("it was not rejected")
        }
        isCareless.turnOff()
        XCTAssertEqual(try Promise<Int, Never>(on: executor) { 2 }.wait(), 2)
    }
}

private final class Switch: Sendable {
    private let state = Atomic(true)

    var isOn: Bool { state.load(ordering: .acquiring) }
    func turnOff() { state.store(false, ordering: .releasing) }
}
