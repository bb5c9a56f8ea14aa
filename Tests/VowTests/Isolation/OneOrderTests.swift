// Tests of the order in which handlers run on an actor, and of who runs those of the main actor while its thread is blocked.

import CVow
import Dispatch
import XCTest

@testable import Vow

private actor Ledger {
    private var lines: [Int] = []
    private let tracker = Tracker()

    func write(_ line: Int) { lines.append(line) }

    func takeLines() -> [Int] {
        defer { lines = [] }
        return lines
    }
}

@MainActor private final class Count {
    var number = 0
}

final class OneOrderTests: VowTest {
    func testHandlersOfOnePromiseRunInOrderHoweverOftenTheActorIsNamed() async {
        let ledger = Ledger()
        for round in 0..<manyOf(1_000, full: 20_000) {
            let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
            let all = (0..<5).map { number in
                promise.done(on: .actor(ledger)) {
                    ledger.assumeIsolated { $0.write(number) }
                }
            }
            resolver.fulfill()
            for each in all { await each.value }
            let lines = await ledger.takeLines()
            if lines != Array(0..<5) { return XCTFail("round \(round): \(lines)") }
        }
    }

    func testHandlersOfTheMainActorHaveOneOrderWrittenThereOrNot() async {
        let lines = Journal<Int>()
        for round in 0..<manyOf(500, full: 20_000) {
            let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
            let all = await MainActor.run {
                [
                    promise.done { lines.write(round * 3) },
                    promise.done(on: .mainActor) { lines.write(round * 3 + 1) },
                    promise.done { lines.write(round * 3 + 2) },
                ]
            }
            resolver.fulfill()
            for each in all { await each.value }
        }
        XCTAssertEqual(lines.entries, Array(0..<lines.entries.count))
    }

    func testAnActorHasOneExecutorWhileSomebodyHasItAndIsLetGoOfThen() async {
        let before = Tracker.living
        var ledger: Ledger? = Ledger()
        var executor: PromiseExecutor? = ledger.map { .actor($0) }
        XCTAssertEqual(executor, ledger.map { .actor($0) })
        XCTAssertNotEqual(executor, .actor(Ledger()))
        XCTAssertEqual(PromiseExecutor.actor(MainActor.shared), PromiseExecutor.mainActor)
        (ledger, executor) = (nil, nil)
        _ = (ledger, executor)
        eventually("the actors are freed") { Tracker.living == before }
    }

    func testManyThreadsThatNameAnActorGetItsOneOrder() async throws {
        let ledger = Ledger()
        let all = (0..<8).flatMap { thread in
            (0..<200).map { number in
                Promise(on: .pool) {
                    Guarantee.value(thread * 200 + number).done(on: .actor(ledger)) { line in
                        ledger.assumeIsolated { $0.write(line) }
                    }
                }
            }
        }
        for each in all { try await each.value }
        let lines = await ledger.takeLines()
        XCTAssertEqual(lines.sorted(), Array(0..<1_600))
    }

    func testAHandlerHasThePriorityOfWhoHandsItOver() async {
        let ledger = Ledger()
        let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
        let priority = promise.map(on: .actor(ledger)) { _ in Task.currentPriority }
        await Task(priority: .low) { Task.detached(priority: .high) { _ = resolver.fulfill() } }
            .value.value
        let value = await priority.value
        XCTAssertGreaterThanOrEqual(value, .high)
    }

    func testTasksOfAPriorityRunHandlersInOrder() async {
        let executor = PromiseExecutor.task(priority: .background)
        XCTAssertEqual(executor, .task(priority: .background))
        let lines = Journal<Int>()
        let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
        let all = (0..<100).map { number in
            promise.map(on: .task(priority: .background)) { lines.write(number) }
        }
        resolver.fulfill()
        for each in all { await each.value }
        XCTAssertEqual(lines.entries, Array(0..<100))
    }

    @MainActor
    func testAWaitOnTheMainThreadRunsWhatTheMainActorHasToRun() throws {
        let count = Count()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let sum = promise.map { number in
            count.number += number
            return count.number
        }
        DispatchQueue.global().async { resolver.fulfill(41) }
        XCTAssertEqual(try sum.map { $0 + 1 }.wait(), 42)
        XCTAssertEqual(count.number, 41)
        XCTAssertEqual(try sum.then { Promise<Int, any Error>.value($0) }.wait(), 41)
    }

    @MainActor
    func testAWaitOnTheMainThreadEndsByFailureAndByTime() throws {
        let failing = Promise<Int, any Error>.value(1).map { _ in throw PromiseError.noSuchElement }
        XCTAssertThrowsError(try failing.wait())
        let (never, resolver) = Promise<Int, any Error>.pending()
        let link = never.map { $0 + 1 }
        XCTAssertThrowsError(try link.wait(timeout: .milliseconds(20))) { error in
            guard case PromiseError.timedOut = error else { return XCTFail("\(error)") }
        }
        resolver.fulfill(1)
        XCTAssertEqual(try link.wait(), 2)
    }

    func testAFailureAtTheMomentWhenAWaitOnTheMainThreadEndsIsNotReportedAsWell() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        let (promise, resolver) = Promise<Int, any Error>.pending()
        _ = promise.servingMainActor(60_000_000_000) { _, nanoseconds in
            if nanoseconds != 0 { resolver.reject(TestError.one) }
            return Int32(VOW_PENDING)
        }
        XCTAssertEqual(failure(of: promise) as? TestError, .one)
        XCTAssertEqual(reports.entries, [])
    }

    @MainActor
    func testAWaitOnTheMainThreadInsideOfItsHandlerIsRefused() throws {
        let promise = Promise<Int, any Error>.value(1).map { _ in
            try Promise<Int, any Error>.value(1).map { $0 + 1 }.wait()
        }
        XCTAssertThrowsError(try promise.wait()) { error in
            guard case PromiseError.deadlock = error else { return XCTFail("\(error)") }
        }
    }

    @MainActor
    func testAnEventLoopOnTheMainThreadRunsThemToo() throws {
        let loop = try PromiseLoop()
        let count = Count()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let sum = promise.map { number in
            count.number += number
            return count.number
        }
        DispatchQueue.global().async { resolver.fulfill(41) }
        XCTAssertEqual(try loop.run(until: sum), 41)
        let again = Promise<Int, any Error>.value(1).done { count.number += $0 }
        while again.isPending { try loop.runOnce() }
        XCTAssertEqual(count.number, 42)
        let virtual = try PromiseLoop.virtual()
        let late = Promise<Void, any Error>.delay(.seconds(3600)).map { count.number }
        try virtual.run(until: late)
        XCTAssertEqual(try late.result?.get(), 42)
    }
}
