// Tests of any and some.

import Vow
import XCTest

final class AnyTests: VowTest {
    func testTheFirstValueWinsAndFailuresBeforeItDoNotCount() {
        let members = PendingMembers(3, of: Int.self)
        let first = Promise.any(members.promises)
        members.resolvers[0].reject(TestError.one)
        members.resolvers[2].fulfill(2)
        members.resolvers[1].fulfill(1)
        XCTAssertEqual(first.settledValue, 2)
    }

    func testWhenAllFailTheFailuresAreToldInTheOrderOfThePromises() {
        let members = PendingMembers(2, of: Int.self)
        let first = Promise.any(members.promises)
        members.resolvers[1].reject(TestError.two)
        XCTAssertTrue(first.isPending)
        members.resolvers[0].reject(TestError.one)
        let errors = (failure(of: first) as? AggregateError)?.errors
        XCTAssertEqual(errors?.map(\.label), [0, 1])
        XCTAssertEqual(errors?.map { $0.underlying as? TestError }, [.one, .two])
    }

    func testOfNoneItIsAnAggregateOfNone() {
        let none: [Promise<Int, any Error>] = []
        XCTAssertEqual((failure(of: Promise.any(none)) as? AggregateError)?.errors.count, 0)
    }

    func testLosersAreLetGoOfAndCancelledWhereNobodyElseWantsThem() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let kept = members!.promises[0]
        let first = Promise.any(members!.promises)
        members = nil
        resolvers[1].fulfill(1)
        XCTAssertEqual(first.settledValue, 1)
        XCTAssertEqual(cancelled.entries, [2])
        XCTAssertTrue(kept.isPending)
    }

    func testTheFailuresOfAnInnerCombinatorSayTheOuterPlace() {
        let inner = Promise.all([Promise<Int, any Error>.value(1), .failure(TestError.two)])
        let first = Promise.any([.failure(TestError.one), .failure(TestError.one), inner])
        let errors = (failure(of: first) as? AggregateError)?.errors
        XCTAssertEqual(errors?.map(\.label), [0, 1, 2])
        XCTAssertEqual(errors?.last?.underlying as? TestError, .two)
    }

    func testTypedMembersAreTaken() throws {
        let members = [Promise<String, TestError>.failure(.one), .value("x")]
        XCTAssertEqual(try Promise.any(members).wait(), "x")
    }

    func testCancellingTheWholeCancelsItsMembers() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let first = Promise.any(members!.promises)
        members = nil
        first.cancel()
        XCTAssertEqual(cancelled.entries.sorted(), [0, 1])
        withExtendedLifetime(resolvers) {}
    }

    func testSoManyValuesInTheOrderOfThePromises() throws {
        let members = PendingMembers(4, of: Int.self)
        let two = Promise.some(2, of: members.promises)
        members.resolvers[3].fulfill(3)
        members.resolvers[0].reject(TestError.one)
        XCTAssertTrue(two.isPending)
        members.resolvers[1].fulfill(1)
        XCTAssertEqual(try two.wait(), [1, 3])
    }

    func testTooFewForSoManyAreToldAsSoonAsThatIsCertain() {
        let members = PendingMembers(4, of: Int.self)
        let three = Promise.some(3, of: members.promises)
        members.resolvers[3].reject(TestError.three)
        XCTAssertTrue(three.isPending)
        members.resolvers[1].reject(TestError.one)
        let errors = (three.error as? AggregateError)?.errors
        XCTAssertEqual(errors?.map(\.label), [1, 3])
        XCTAssertEqual(errors?.map { $0.underlying as? TestError }, [.one, .three])
    }

    func testNoneWantedIsAnEmptyArrayAndMoreThanThereAreAnAggregate() throws {
        let one = [Promise<Int, any Error>.value(1)]
        XCTAssertEqual(try Promise.some(0, of: one).wait(), [])
        XCTAssertTrue(failure(of: Promise.some(2, of: one)) is AggregateError)
    }

    func testPromisesMayBeWrittenOut() throws {
        let failed = Promise<Int, any Error>.failure(TestError.one)
        XCTAssertEqual(try Promise.any(failed, .value(2), .value(3)).wait(), 2)
        XCTAssertEqual(try Promise.any(failed.recover(with: 4)).wait(), 4)
    }

    /// Its description, if it were asked inside of the step that settles, would wait for itself.
    func testADescriptionIsAskedWhenSomebodyLooks() throws {
        for isAny in [true, false] {
            let asked = Journal<String>()
            let members = PendingMembers(2, of: Int.self)
            let all = members.promises
            let first = (isAny ? Promise.any(all) : Promise.race(all)).map(on: .inline) { $0 }
            members.resolvers[0].reject(Described(asked: asked))
            members.resolvers[1].reject(Described(asked: asked))
            XCTAssertFalse(first.isPending)
            XCTAssertEqual(asked.entries, [])
            let error = try XCTUnwrap(failure(of: first))
            XCTAssertEqual(
                "\((error as? AggregateError)?.errors[1].underlying ?? error)", "described")
            XCTAssertEqual(asked.entries, ["asked"])
        }
    }
}

private struct Described: Error, CustomStringConvertible {
    let asked: Journal<String>
    var description: String {
        asked.write("asked")
        return "described"
    }
}
