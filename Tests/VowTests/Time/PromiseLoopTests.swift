// Tests of PromiseLoop.

import Dispatch
import Vow
import XCTest

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

final class PromiseLoopTests: VowTest {
    func testHandlersThatAreAttachedHereRunInsideTheLoop() throws {
        let loop = try PromiseLoop()
        let thread = pthread_self()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let isHere = promise.map { _ in pthread_equal(pthread_self(), thread) != 0 }
        DispatchQueue.global().async { resolver.fulfill(1) }
        while isHere.isPending { try loop.runOnce() }
        XCTAssertEqual(isHere.settledValue, true)
    }

    func testTheDescriptorIsReadableWhileSomethingWaitsToBeRun() throws {
        let loop = try PromiseLoop()
        XCTAssertFalse(isReadable(loop.fileDescriptor))
        let next = Promise<Int, any Error>.value(1).map { $0 + 1 }
        XCTAssertTrue(isReadable(loop.fileDescriptor))
        XCTAssertEqual(try loop.runOnce(timeout: .zero), 1)
        XCTAssertFalse(isReadable(loop.fileDescriptor))
        XCTAssertEqual(next.settledValue, 2)
    }

    func testTheExecutorRunsWorkOfOtherThreadsOnTheLoop() throws {
        let loop = try PromiseLoop()
        let executor = loop.executor
        let work = Promise<Bool, any Error>(on: .pool) { true }
            .map(on: executor) { $0 && PromiseExecutor.current == executor }
        XCTAssertTrue(try loop.run(until: work))
    }

    func testWakingMakesARunReturn() throws {
        let loop = try PromiseLoop()
        loop.wake()
        XCTAssertEqual(try loop.runOnce(), 0)
        XCTAssertEqual(try loop.runOnce(timeout: .zero), 0)
    }

    func testRunningUntilAPromiseIsSettledGivesItsResult() throws {
        let loop = try PromiseLoop.virtual()
        let value = Promise.delay(.seconds(3_600)).map { 5 }
        XCTAssertEqual(try loop.run(until: value), 5)
        let failed = Promise.delay(.seconds(3_600)).map { throw TestError.one }
        XCTAssertThrowsError(try loop.run(until: failed)) {
            XCTAssertEqual($0 as? TestError, .one)
        }
        let typed = Promise<Int, TestError>.failure(.two)
        XCTAssertThrowsError(try loop.run(until: typed)) {
            XCTAssertEqual($0 as? TestError, .two)
        }
    }

    func testRunningUntilTheTimeIsUpSaysSo() throws {
        let loop = try PromiseLoop()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertThrowsError(try loop.run(until: promise, timeout: .milliseconds(1))) { error in
            guard case PromiseError.timedOut = error else { return XCTFail("\(error)") }
        }
        resolver.fulfill(1)
    }

    func testBlockingWaitsRunTheLoopMeanwhile() throws {
        let loop = try PromiseLoop.virtual()
        XCTAssertEqual(try Promise.delay(.seconds(60)).map { "done" }.wait(), "done")
        withExtendedLifetime(loop) {}
    }

    func testAnHourPassesAtOnceAndInOrder() throws {
        let loop = try PromiseLoop.virtual()
        let order = Journal<Int>()
        let delays = [3_000, 1_000, 2_000].map { seconds in
            Promise.delay(.seconds(seconds)).done { order.write(seconds) }
        }
        XCTAssertEqual(try loop.advance(by: .seconds(3_600)), 6)
        XCTAssertEqual(order.entries, [1_000, 2_000, 3_000])
        XCTAssertTrue(delays.allSatisfy { $0.state == .fulfilled })
    }

    func testWrongTimesAreRefused() throws {
        let real = try PromiseLoop()
        XCTAssertThrowsError(try real.advance(by: .seconds(1)))
        XCTAssertThrowsError(try real.runOnce(timeout: .nanoseconds(-1)))
        let virtual = try PromiseLoop.virtual()
        XCTAssertThrowsError(try virtual.advance(by: .seconds(-1)))
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertThrowsError(try virtual.run(until: promise, timeout: .nanoseconds(-1)))
        resolver.fulfill(1)
    }

    func testWhatIsLeftWhenALoopEndsIsRejected() throws {
        var loop = try Optional(PromiseLoop())
        let executor = loop!.executor
        let delay = Promise.delay(.seconds(60))
        let queued = Promise<Int, any Error>.value(1).map { $0 }
        loop = nil
        for error in [delay.error, queued.error, failure(of: Promise(on: executor) { 1 })] {
            guard case PromiseError.shutDown? = error else {
                return XCTFail("\(String(describing: error)) instead of a shutdown")
            }
        }
    }
}

private func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1
}
