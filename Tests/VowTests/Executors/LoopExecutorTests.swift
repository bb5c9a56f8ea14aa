// Tests of event loops as the executors of actors.

import Dispatch
import Vow
import XCTest

private actor Session {
    private let loop: PromiseLoop
    private(set) var lines: [Int] = []

    init(on loop: PromiseLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func write(_ line: Int) { lines.append(line) }
    func isOnTheLoop() -> Bool { PromiseExecutor.current == loop.executor }
    func writeBothSides(of wait: Promise<Int, any Error>) async throws {
        write(1)
        write(try await wait.value)
        write(isOnTheLoop() ? 3 : -3)
    }
}

final class LoopExecutorTests: VowTest {
    func testAnActorRunsInsideItsLoop() throws {
        let loop = try PromiseLoop()
        let session = Session(on: loop)
        let isThere = Promise { await session.isOnTheLoop() }
        XCTAssertTrue(isThere.isPending)
        XCTAssertTrue(try loop.run(until: isThere.eraseFailure()))
    }

    func testAfterAWaitItGoesOnThere() throws {
        let loop = try PromiseLoop()
        let session = Session(on: loop)
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let written = Promise { () async throws in try await session.writeBothSides(of: promise) }
        DispatchQueue.global().async { resolver.fulfill(2) }
        try loop.run(until: written)
        let lines = Promise { () async throws in await session.lines }
        XCTAssertEqual(try loop.run(until: lines), [1, 2, 3])
    }

    func testHandlersOfTheLoopAreIsolatedToIt() throws {
        let loop = try PromiseLoop()
        let session = Session(on: loop)
        let written = Promise<Int, any Error>.value(7).map(on: loop.executor) { number in
            session.assumeIsolated { $0.write(number) }
        }
        try loop.run(until: written)
        let lines = Promise { () async throws in await session.lines }
        XCTAssertEqual(try loop.run(until: lines), [7])
    }

    func testJobsRunOneAtATimeAndNoneIsLost() throws {
        let loop = try PromiseLoop()
        let session = Session(on: loop)
        let all = Promise { () async throws in
            await withTaskGroup { group in
                for number in 0..<1_000 { group.addTask { await session.write(number) } }
            }
            return await session.lines.count
        }
        XCTAssertEqual(try loop.run(until: all), 1_000)
    }

    func testElsewhereNobodyIsIsolated() throws {
        let loop = try PromiseLoop()
        let isThere = Promise<Bool?, any Error>(on: .pool) { loop.isIsolatingCurrentContext() }
        XCTAssertEqual(try isThere.wait(), false)
    }
}
