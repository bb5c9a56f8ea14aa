// Tests how long a listener has to wait for its next call.

import XCTest

@testable import VowCore

final class ListenerTests: CoreTest {
    private func listener(every interval: Int64, toldAt moment: Int64?, _ fraction: Double = 0.5)
        -> Listener
    {
        var listener = Listener(
            interval: interval, fn: { _, _, _ in }, context: nil, destroy: nil,
            executor: ownExecutors.inline, surroundings: Surroundings(), token: nil)
        listener.toldAt = moment
        listener.fraction = fraction
        return listener
    }

    func testTheFirstCallWaitsForNothing() {
        XCTAssertEqual(listener(every: 1_000, toldAt: nil).timeLeft(at: 5), 0)
    }

    func testTheNextOneWaitsForTheRestOfTheInterval() {
        let one = listener(every: 1_000, toldAt: 10_000)
        XCTAssertEqual(one.timeLeft(at: 10_000), 1_000)
        XCTAssertEqual(one.timeLeft(at: 10_001), 999)
        XCTAssertEqual(one.timeLeft(at: 10_999), 1)
        XCTAssertEqual(one.timeLeft(at: 11_000), 0)
        XCTAssertEqual(one.timeLeft(at: Int64.max), 0)
    }

    func testAClockThatGoesBackDoesNotMakeItLonger() {
        XCTAssertEqual(listener(every: 1_000, toldAt: 10_000).timeLeft(at: 0), 1_000)
    }

    func testWithoutAnIntervalNothingWaits() {
        XCTAssertEqual(listener(every: 0, toldAt: 10_000).timeLeft(at: 10_000), 0)
    }

    func testTheLongestIntervalEndsWithTheClock() {
        let one = listener(every: Int64.max, toldAt: 1_000)
        XCTAssertEqual(one.timeLeft(at: 1_000), Int64.max - 1_000)
        XCTAssertEqual(one.timeLeft(at: 2_000), Int64.max - 2_000)
        XCTAssertEqual(one.timeLeft(at: Int64.max), 0)
    }

    func testTheLastOneWaitsForNothing() {
        XCTAssertEqual(listener(every: 1_000, toldAt: 10_000, 1).timeLeft(at: 10_000), 0)
    }

    func testTheNoteIsKeptAndCut() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Listener.size, alignment: 16)
        let one = memory.bindMemory(to: Listener.self, capacity: 1)
        one.initialize(to: listener(every: 0, toldAt: nil))
        one.keep(0.25, "a note")
        XCTAssertEqual(String(cString: one.note), "a note")
        XCTAssertEqual(one.pointee.fraction, 0.25)
        XCTAssertTrue(one.pointee.hasNews)
        one.keep(0.5, nil)
        XCTAssertEqual(String(cString: one.note), "")
        one.keep(0.5, String(repeating: "n", count: 500))
        XCTAssertEqual(strlen(one.note), Listener.longestNote)
        memory.deallocate()
    }
}
