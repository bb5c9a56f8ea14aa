// Tests adoption: what a follower takes over, how followers move, and that recursion stays flat.

import CVow
import XCTest

@testable import VowCore

final class FollowTests: CoreTest {
    func testAdoptingASettledPromiseTakesItsOutcomeWithoutMemory() {
        for outcome in [{ makeString("v", length: 1)! }, { failure(3) }] {
            let value = outcome()
            let inner = makePromise(of: value, thread)
            let outer = openPromise()
            inner.retain()
            XCTAssertEqual(Cost.of { resolveLast(outer, asValue(inner)) }, Cost(settled: 1))
            XCTAssertEqual(phase(of: outer), .settled)
            XCTAssertEqual(outer.value.box, value.box)
            XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 2)
            XCTAssertEqual(inner.nowCounts, Counts(readers: 1, producers: 0))
            XCTAssertTrue(inner.pointee.isObserved.isSet)
            XCTAssertFalse(outer.pointee.isObserved.isSet)
            dropObserved(outer)
            drop(inner)
        }
    }

    func testAFollowerStandsInTheQueueOfThePendingPromiseWithoutMemory() {
        let inner = openPromise()
        let outer = openPromise()
        inner.retain()
        XCTAssertEqual(Cost.of { resolveLast(outer, asValue(inner)) }, Cost())
        XCTAssertEqual(phase(of: outer), .following)
        XCTAssertEqual(outer.upstream, inner)
        XCTAssertEqual(inner.pointee.state.read().head, outer)
        XCTAssertTrue(inner.pointee.flags.contains(RecordFlag.hasFollowers))
        // The queue is its producer, and it holds what it follows.
        XCTAssertEqual(outer.nowCounts, Counts(readers: 1, producers: 1))
        XCTAssertEqual(inner.nowCounts, Counts(readers: 2, producers: 1))
        XCTAssertEqual(Cost.of { resolveLast(inner, vow_int(4)) }, Cost(settled: 2))
        XCTAssertEqual(outer.value.as.integer, 4)
        XCTAssertEqual(outer.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(inner.nowCounts, Counts(readers: 1, producers: 0))
        drop(outer, inner)
    }

    func testG1_aFollowerIsResolvedAndPending() {
        let inner = openPromise()
        let outer = openPromise()
        outer.retainProducer()
        inner.retain()
        XCTAssertTrue(resolveLast(outer, asValue(inner)))
        XCTAssertFalse(resolveLast(outer, vow_int(1)))
        XCTAssertFalse(outer.pointee.state.read().hasValue)
        resolveLast(inner, vow_int(2))
        XCTAssertEqual(outer.value.as.integer, 2)
        drop(outer, inner)
    }

    func testSeveralFollowersTakeTheOutcomeAndLinksOfBothRunInOrder() {
        let inner = openPromise()
        let journal = Journal()
        let note: Handler = { input, context in
            context!.object(Journal.self).write(Int(input.as.integer))
            return input
        }
        var outers: [RecordPointer] = []
        var links = [branch(inner, with: journal, note)]
        for _ in 0..<3 {
            let outer = openPromise()
            links.append(branch(outer, with: journal, note))
            inner.retain()
            resolveLast(outer, asValue(inner))
            outers.append(outer)
        }
        resolveLast(inner, vow_int(9))
        XCTAssertEqual(journal.entries, [9, 9, 9, 9])
        for outer in outers { XCTAssertEqual(outer.value.as.integer, 9) }
        for promise in outers + links { drop(promise) }
        drop(inner)
    }

    /// Pending promises, of which each follows the next one.
    private func path() -> (outer: RecordPointer, middle: RecordPointer, end: RecordPointer) {
        let (outer, middle, end) = (openPromise(), openPromise(), openPromise())
        end.retain()
        resolveLast(middle, asValue(end))
        middle.retain()
        resolveLast(outer, asValue(middle))
        return (outer, middle, end)
    }

    func testAFollowerOfAFollowerWaitsAtTheEndOfThePath() {
        let (outer, middle, end) = path()
        XCTAssertEqual(outer.upstream, end)
        XCTAssertEqual(end.pointee.state.read().head, outer)
        XCTAssertEqual(outer.next, middle)
        XCTAssertNil(middle.next)
        // The path does not need the one in the middle.
        XCTAssertEqual(middle.nowCounts, Counts(readers: 1, producers: 1))
        resolveLast(end, vow_int(7))
        XCTAssertEqual(outer.value.as.integer, 7)
        XCTAssertEqual(middle.value.as.integer, 7)
        drop(end, middle, outer)
    }

    /// The header names it: what adopted the one in the middle waits for the end already.
    func testCancellingTheOneInTheMiddleLeavesThoseThatWentOnPastIt() {
        let (outer, middle, end) = path()
        XCTAssertTrue(cancel(middle, ownErrors.cancelled, thread))
        XCTAssertFalse(outer.pointee.state.read().hasValue)
        resolveLast(end, vow_int(7))
        XCTAssertEqual(outer.value.as.integer, 7)
        drop(end, middle, outer)
    }

    func testFollowersOfAPromiseThatNobodyElseReadsMoveOnAndItDies() {
        let end = openPromise()
        let middle = openPromise()
        let outer = openPromise()
        resolveLast(outer, asValue(middle))
        end.retain()
        let cost = Cost.of { resolveLast(middle, asValue(end)) }
        XCTAssertEqual(cost, Cost(freed: 40, promisesFreed: 1))
        XCTAssertEqual(outer.upstream, end)
        XCTAssertEqual(end.pointee.state.read().head, outer)
        resolveLast(end, vow_int(1))
        XCTAssertEqual(outer.value.as.integer, 1)
        drop(outer, end)
    }

    func testFollowersStayBehindAPromiseThatSomebodyReads() {
        let end = openPromise()
        let middle = openPromise()
        let outer = openPromise()
        middle.retain()
        resolveLast(outer, asValue(middle))
        end.retain()
        XCTAssertEqual(Cost.of { resolveLast(middle, asValue(end)) }, Cost())
        XCTAssertEqual(outer.upstream, middle)
        resolveLast(end, vow_int(1))
        XCTAssertEqual(outer.value.as.integer, 1)
        XCTAssertEqual(middle.value.as.integer, 1)
        drop(outer, middle, end)
    }

    func testManyFollowersStayAndFewMove() {
        for followers in [1, 16, 17, 40] {
            let end = openPromise()
            let middle = openPromise()
            let outers = (0..<followers).map { _ in openPromise() }
            for outer in outers {
                middle.retain()
                resolveLast(outer, asValue(middle))
            }
            drop(middle)
            end.retain()
            let cost = Cost.of { resolveLast(middle, asValue(end)) }
            let haveMoved = followers <= 16
            XCTAssertEqual(cost.promisesFreed, haveMoved ? 1 : 0, "\(followers) followers")
            for outer in outers { XCTAssertEqual(outer.upstream == end, haveMoved) }
            resolveLast(end, vow_int(2))
            for outer in outers {
                XCTAssertEqual(outer.value.as.integer, 2)
                drop(outer)
            }
            drop(end)
        }
    }

    func testAPromiseWithALinkBesidesItsFollowersStays() {
        let end = openPromise()
        let middle = openPromise()
        let outer = openPromise()
        let derived = branch(middle) { input, _ in vow_int(input.as.integer + 1) }
        resolveLast(outer, asValue(middle))
        end.retain()
        XCTAssertEqual(Cost.of { resolveLast(middle, asValue(end)) }.promisesFreed, 0)
        resolveLast(end, vow_int(2))
        XCTAssertEqual(derived.value.as.integer, 3)
        XCTAssertEqual(outer.value.as.integer, 2)
        drop(derived, outer, end)
    }

    func testAPromiseThatNobodyCanReadFollowsNothing() {
        let end = openPromise()
        let outer = openPromise()
        drop(outer)
        end.retain()
        let cost = Cost.of { resolveLast(outer, asValue(end)) }
        XCTAssertEqual(cost.promisesFreed, 1)
        XCTAssertNil(end.pointee.state.read().head)
        XCTAssertEqual(end.nowCounts, Counts(readers: 1, producers: 1))
        resolveLast(end, vow_none())
        drop(end)
    }

    func testG6_longPathsOfFollowersSettleOnASmallStack() {
        for isBuiltForwards in [true, false] {
            Worker(stack: 64 * 1024) {
                var promises = (0..<manyOf(30_000, full: 300_000)).map { _ in openPromise() }
                if !isBuiltForwards { promises.reverse() }
                let ends =
                    isBuiltForwards ? (promises.last!, promises[0]) : (promises[0], promises.last!)
                // Every promise but the end follows its neighbour.
                let order = Array(1..<promises.count)
                for index in order {
                    let (from, to) =
                        isBuiltForwards
                        ? (promises[index - 1], promises[index])
                        : (promises[index], promises[index - 1])
                    to.retain()
                    resolveLast(from, asValue(to))
                }
                resolveLast(ends.0, vow_int(6))
                XCTAssertEqual(ends.1.value.as.integer, 6)
                for promise in promises { drop(promise) }
            }.join()
        }
    }
}
