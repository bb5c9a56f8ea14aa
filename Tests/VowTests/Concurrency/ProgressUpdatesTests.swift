// Tests PromiseProgressUpdates.swift.

import Vow
import XCTest

final class ProgressUpdatesTests: VowTest {
    func testAnIterationHearsOfProgressAndEndsWithThePromise() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        var told: [PromiseProgress] = []
        var updates = promise.progress.makeAsyncIterator()
        for step in 1...3 {
            resolver.setProgress(Double(step) / 4, note: "step \(step)")
            if let next = await updates.next() { told.append(next) }
        }
        resolver.fulfill(1)
        let end = await updates.next()
        XCTAssertNil(end)
        XCTAssertEqual(
            told, (1...3).map { PromiseProgress(fraction: Double($0) / 4, note: "step \($0)") })
    }

    func testWhoAsksLateIsToldWhatIsNewest() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        var updates = promise.progress.makeAsyncIterator()
        for step in 1...4 { resolver.setProgress(Double(step) / 4) }
        resolver.fulfill(1)
        let newest = await updates.next()
        XCTAssertEqual(newest, PromiseProgress(fraction: 1))
        let end = await updates.next()
        XCTAssertNil(end)
    }

    func testATaskThatWaitsIsWokenByNewsAndByTheEnd() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let told = Journal<Double>()
        var updates = promise.progress.makeAsyncIterator()
        let task = Task {
            while let next = await updates.next() { told.write(next.fraction) }
        }
        resolver.setProgress(0.5)
        while told.entries.isEmpty { await Task.yield() }
        resolver.fulfill(1)
        await task.value
        XCTAssertEqual(told.entries, [0.5])
    }

    func testCancellingTheTaskEndsTheIterationAndLeavesThePromiseAlone() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let task = Task {
            for await _ in promise.progress {}
            return true
        }
        task.cancel()
        let isOver = await task.value
        XCTAssertTrue(isOver)
        XCTAssertTrue(promise.isPending)
        resolver.fulfill(1)
        let value = try? await promise.value
        XCTAssertEqual(value, 1)
    }

    func testLeavingTheLoopLeavesThePromiseAlone() async {
        let isStopped = Journal<Bool>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { isStopped.write(true) }
        do {
            var updates = promise.progress.makeAsyncIterator()
            resolver.setProgress(0.5)
            _ = await updates.next()
        }
        XCTAssertEqual(isStopped.entries, [])
        XCTAssertTrue(promise.isPending)
        resolver.fulfill(1)
    }

    func testWhatListenedIsGoneWithItsTokenAndWithItsIteration() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        defer { resolver.fulfill(1) }
        let source = CancellationSource()
        weak var heard: Journal<Double>?
        do {
            let told = Journal<Double>()
            heard = told
            promise.onProgress(on: .inline, cancelledBy: source.token) { fraction, _ in
                told.write(fraction)
            }
            resolver.setProgress(0.25)
            XCTAssertEqual(told.entries, [0.25])
        }
        XCTAssertNotNil(heard)
        source.cancel()
        XCTAssertNil(heard)
        let before = PromiseRuntime.statistics.bytes
        for _ in 0..<100 {
            var updates = promise.progress.makeAsyncIterator()
            resolver.setProgress(0.5)
            _ = await updates.next()
        }
        XCTAssertLessThan(PromiseRuntime.statistics.bytes, before + 100)
    }

    func testTheEndOfASettledPromiseIsThereAtOnce() async {
        for await _ in Promise<Int, any Error>.value(1).progress { XCTFail("it is over") }
    }

    func testAFailureEndsItAndIsStillUnhandled() async {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            resolver.reject(TestError.one)
            for await _ in promise.progress { XCTFail("it is over") }
        }
        XCTAssertEqual(reports.entries, ["one"])
    }

    func testTasksThatShareAnIterationAllHearOfTheEnd() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        nonisolated(unsafe) let iterator = promise.progress.makeAsyncIterator()
        let heard = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var (mine, count) = (iterator, 0)
                    while await mine.next() != nil { count += 1 }
                    return count
                }
            }
            await Task.yield()
            resolver.setProgress(0.5)
            resolver.fulfill(1)
            return await group.reduce(0, +)
        }
        XCTAssertLessThanOrEqual(heard, 1)
    }
}
