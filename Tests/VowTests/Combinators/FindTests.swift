// Tests of Promise.find.

import Vow
import XCTest

final class FindTests: VowTest {
    func testTheFirstThatFitsIsFoundInTheOrderOfThePromises() throws {
        let members = PendingMembers(4, of: Int.self)
        let found = Promise.find(in: members.promises) { $0 > 1 }
        members.resolvers[3].fulfill(3)
        members.resolvers[0].fulfill(0)
        members.resolvers[1].fulfill(1)
        XCTAssertTrue(found.isPending)
        members.resolvers[2].fulfill(2)
        XCTAssertEqual(try found.wait(), 2)
    }

    func testNoneThatFitsIsNil() throws {
        let members: [Promise<String, any Error>] = [.value("a"), .value("b")]
        XCTAssertEqual(try Promise.find(in: members) { $0 == "c" }.wait(), .none)
        XCTAssertEqual(try Promise.find(in: members.prefix(0)) { $0 == "c" }.wait(), .none)
    }

    func testAFailureOnTheWayIsTheWholes() {
        let members: [Promise<Int, any Error>] = [.value(1), .failure(TestError.two), .value(3)]
        XCTAssertEqual(failure(of: Promise.find(in: members) { $0 == 3 }) as? TestError, .two)
        XCTAssertEqual(try Promise.find(in: members) { $0 == 1 }.wait(), 1)
    }

    func testWhatTheFunctionThrowsIsTheFailure() {
        let members: [Promise<Int, any Error>] = [.value(1), .value(2)]
        let found = Promise.find(in: members) { number in
            if number == 2 { throw TestError.two }
            return false
        }
        XCTAssertEqual(failure(of: found) as? TestError, .two)
    }

    func testTheRestIsLetGoOfAndCancelledWhereNobodyElseWantsIt() throws {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let kept = members!.promises[2]
        let found = Promise.find(in: members!.promises, on: .inline) { $0 == 1 }
        members = nil
        resolvers[0].fulfill(1)
        XCTAssertEqual(try found.wait(), 1)
        XCTAssertEqual(cancelled.entries, [1])
        XCTAssertTrue(kept.isPending)
    }

    func testCancellingTheWholeCancelsItsMembers() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let found = Promise.find(in: members!.promises) { $0 == 1 }
        members = nil
        XCTAssertTrue(found.cancel())
        XCTAssertEqual(cancelled.entries.sorted(), [0, 1])
        withExtendedLifetime(resolvers) {}
    }

    func testAmongTheFulfilledFailuresArePassedOver() throws {
        let members: [Promise<Int, any Error>] = [
            .failure(TestError.two), .value(3), .failure(TestError.one), .value(5),
        ]
        XCTAssertEqual(try Promise.find(fulfilledIn: members) { $0 > 3 }.wait(), 5)
        XCTAssertEqual(try Promise.find(fulfilledIn: members) { $0 > 5 }.wait(), .none)
        let throwing = Promise.find(fulfilledIn: members) { _ in throw TestError.three }
        XCTAssertEqual(failure(of: throwing) as? TestError, .three)
    }

    func testAmongTheFulfilledTheRestIsLetGoOf() throws {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let found = Promise.find(fulfilledIn: members!.promises, on: .inline) { $0 == 1 }
        members = nil
        resolvers[0].reject(TestError.one)
        resolvers[1].fulfill(1)
        XCTAssertEqual(try found.wait(), 1)
        XCTAssertEqual(cancelled.entries, [2])
    }
}
