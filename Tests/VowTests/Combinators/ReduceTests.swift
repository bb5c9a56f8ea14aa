// Tests of Promise.reduce.

import Vow
import XCTest

final class ReduceTests: VowTest {
    func testValuesAreCombinedInTheOrderOfThePromises() throws {
        let members = PendingMembers(3, of: String.self)
        let text = Promise.reduce(members.promises, ">", on: .inline) { $0 + $1 }
        for index in [2, 1, 0] { members.resolvers[index].fulfill("\(index)") }
        XCTAssertEqual(try text.wait(), ">012")
    }

    func testOfNoneItIsWhatItBeginsWith() throws {
        let none: [Promise<Int, any Error>] = []
        XCTAssertEqual(try Promise.reduce(none, "x") { "\($0)\($1)" }.wait(), "x")
        XCTAssertEqual(try Promise.reduce(none, into: [7]) { $0.append($1) }.wait(), [7])
    }

    func testAPromiseThatCombineMakesIsWaitedFor() throws {
        let members: [Promise<Int, any Error>] = [.value(1), .value(2), .value(3)]
        let sum = Promise.reduce(members, 0) { sum, next in
            Promise<Int, any Error>.value(sum + next)
        }
        XCTAssertEqual(try sum.wait(), 6)
    }

    func testWhatAccumulatesCanBeChangedWhereItStands() throws {
        let members = PendingMembers(3, of: Int.self)
        let list = Promise.reduce(members.promises, into: [String]()) { $0.append("\($1)") }
        for index in [1, 0, 2] { members.resolvers[index].fulfill(index) }
        XCTAssertEqual(try list.wait(), ["0", "1", "2"])
    }

    func testAFailureInTheMiddleEndsItAndLetsGoOfTheRest() {
        let combined = Journal<Int>()
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let sum = Promise.reduce(members!.promises, 0, on: .inline) { sum, next in
            combined.write(next)
            return sum + next
        }
        members = nil
        resolvers[0].fulfill(5)
        resolvers[1].reject(TestError.two)
        XCTAssertEqual(sum.error as? TestError, .two)
        XCTAssertEqual(combined.entries, [5])
        XCTAssertEqual(cancelled.entries, [2])
    }

    func testWhatCombineThrowsIsTheFailure() {
        let members: [Promise<Int, any Error>] = [.value(1), .value(2)]
        let sum = Promise.reduce(members, 0) { sum, next in
            if next == 2 { throw TestError.two }
            return sum + next
        }
        XCTAssertEqual(failure(of: sum) as? TestError, .two)
        let list = Promise.reduce(members, into: 0) { (_: inout Int, _) in throw TestError.one }
        XCTAssertEqual(failure(of: list) as? TestError, .one)
    }

    func testCancellingTheWholeCancelsTheMemberThatItWaitsForAndTheRest() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let sum = Promise.reduce(members!.promises, 0) { $0 + $1 }
        members = nil
        sum.cancel()
        XCTAssertEqual(cancelled.entries.sorted(), [0, 1])
        withExtendedLifetime(resolvers) {}
    }

    func testWhatAccumulatesIsFreed() throws {
        let members: [Promise<Int, any Error>] = [.value(1), .value(2)]
        let trackers = Promise.reduce(members, into: [Tracker]()) { list, _ in
            list.append(Tracker())
        }
        XCTAssertEqual(try trackers.map(\.count).wait(), 2)
    }

    func testAHundredThousandPromises() throws {
        let count = 100_000
        let members = (0..<count).lazy.map { Promise<Int, any Error>.value($0) }
        let sum = Promise.reduce(members, 0, on: .inline) { $0 + $1 }
        XCTAssertEqual(try sum.wait(), count * (count - 1) / 2)
    }
}
