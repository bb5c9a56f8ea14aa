// Tests of race.

import CVow
import Vow
import XCTest

final class RaceTests: VowTest {
    func testTheFirstToSettleDecidesWithAValue() {
        let members = PendingMembers(3, of: Int.self)
        let race = Promise.race(members.promises)
        members.resolvers[1].fulfill(1)
        members.resolvers[0].reject(TestError.one)
        XCTAssertEqual(race.settledValue, 1)
    }

    func testTheFirstToSettleDecidesWithAFailure() {
        let members = PendingMembers(3, of: Int.self)
        let race = Promise.race(members.promises)
        members.resolvers[2].reject(TestError.two)
        members.resolvers[0].fulfill(0)
        XCTAssertEqual(race.error as? TestError, .two)
    }

    func testOfNoneItIsRejected() {
        let none: [Promise<Int, any Error>] = []
        guard case PromiseError.invalidArgument? = failure(of: Promise.race(none)) else {
            return XCTFail("a race of none did not say so")
        }
    }

    func testLosersAreLetGoOfAndCancelledWhereNobodyElseWantsThem() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let kept = members!.promises[2]
        let race = Promise.race(members!.promises)
        members = nil
        resolvers[0].fulfill(0)
        XCTAssertEqual(race.settledValue, 0)
        XCTAssertEqual(cancelled.entries, [1])
        XCTAssertTrue(kept.isPending)
    }

    func testManyRacesAgainstOneThatStaysLeaveNothingOnIt() throws {
        let (staying, resolver) = Promise<Int, any Error>.pending()
        let before = heldBytes()
        for round in 0..<1_000 {
            XCTAssertEqual(try Promise.race([staying, .value(round)]).wait(), round)
        }
        XCTAssertEqual(heldBytes(), before)
        resolver.fulfill(1)
    }

    func testCancellingTheWholeCancelsItsMembers() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let race = Promise.race(members!.promises)
        members = nil
        race.cancel()
        XCTAssertEqual(cancelled.entries.sorted(), [0, 1])
        withExtendedLifetime(resolvers) {}
    }

    func testTypedFailuresStayTyped() throws {
        let race: Promise<Int, TestError> = .race([.failure(.one), .value(1)])
        XCTAssertEqual(race.error, .one)
    }
}

private func heldBytes() -> UInt64 {
    var statistics = vow_statistics()
    statistics.size = MemoryLayout<vow_statistics>.size
    XCTAssertEqual(vow_stats(&statistics), 0)
    return statistics.bytes

    func testPromisesMayBeWrittenOut() throws {
        let (pending, resolver) = Promise<Int, any Error>.pending()
        XCTAssertEqual(try Promise.race(pending, .value(2), .value(3)).wait(), 2)
        XCTAssertEqual(try Promise<Int, any Error>.race(.value(4)).wait(), 4)
        withExtendedLifetime(resolver) {}
    }
}
