// Tests what the last reader of a pending promise leaves behind: its producer hears of it, a reaction goes on.

import CVow
import XCTest

@testable import VowCore

final class InterestTests: CoreTest {
    private let journal = Journal()

    /// An open promise whose producer writes down that it heard.
    private func watched() -> RecordPointer {
        let promise = openPromise()
        addHook(makeNotedHook(1, journal), to: promise, thread)
        return promise
    }

    func testTheProducerHearsAndMayStillResolve() {
        let promise = watched()
        drop(promise)
        XCTAssertEqual(journal.entries, [1, -1])
        XCTAssertEqual(phase(of: promise), .open)
        XCTAssertTrue(resolveLast(promise, vow_int(1)))
    }

    func testAReactionKeepsTheInterestAndRunsThoughNobodyHoldsIt() {
        let promise = watched()
        let fate = Fate()
        drop(link(promise, with: fate, useFate))
        XCTAssertEqual(journal.entries, [])
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(fate.calls, 1)
        XCTAssertEqual(journal.entries, [-1])
    }

    func testAFollowerThatNobodyReadsLetsGoOfWhatItFollowed() {
        let inner = watched()
        let outer = openPromise()
        resolveLast(outer, asValue(inner))
        XCTAssertEqual(journal.entries, [])
        drop(outer)
        XCTAssertEqual(journal.entries, [1, -1])
        XCTAssertNil(inner.pointee.state.read().head)
        XCTAssertTrue(resolveLast(inner, vow_int(1)))
    }

    func testAFollowerThatSomebodyElseReadsStays() {
        let inner = watched()
        let outer = openPromise()
        outer.retain()
        resolveLast(outer, asValue(inner))
        drop(outer)
        XCTAssertEqual(journal.entries, [])
        resolveLast(inner, vow_int(3))
        XCTAssertEqual(outer.value.as.integer, 3)
        drop(outer)
    }

    func testOfSeveralFollowersOneMayGo() {
        let inner = watched()
        let outers = (0..<3).map { _ in openPromise() }
        for outer in outers {
            inner.retain()
            resolveLast(outer, asValue(inner))
        }
        drop(inner)
        drop(outers[1])
        XCTAssertEqual(journal.entries, [])
        resolveLast(inner, vow_int(3))
        for outer in [outers[0], outers[2]] {
            XCTAssertEqual(outer.value.as.integer, 3)
            drop(outer)
        }
    }

    func testAPathOfFollowersLetsGoFromOneEndToTheOther() {
        let inner = watched()
        var outer = inner
        // Those in between go as soon as their followers have passed by.
        let building = Cost.of {
            for _ in 0..<5 {
                let next = openPromise()
                resolveLast(next, asValue(outer))
                outer = next
            }
        }
        XCTAssertEqual(building.promisesFreed, 4)
        let cost = Cost.of { drop(outer) }
        XCTAssertEqual(journal.entries, [1, -1])
        XCTAssertEqual(cost.promisesFreed, 1)
        XCTAssertTrue(resolveLast(inner, vow_none()))
    }

    func testALostFollowersRejectionIsNotReported() {
        let reports = Journal()
        setUnhandledHook(
            { _, context in context!.object(Journal.self).write(1) }, pointer(to: reports))
        let inner = watched()
        let outer = openPromise()
        resolveLast(outer, asValue(inner))
        drop(outer)
        resolveLast(inner, failure(1))
        XCTAssertEqual(reports.entries, [])
        setUnhandledHook(nil, nil)
    }

    func testAReactionThatFollowsGoesOnThoughNobodyHoldsIt() {
        let inner = watched()
        final class Fixture { var inner: RecordPointer! }
        let fixture = Fixture()
        fixture.inner = inner
        let derived = link(makePromise(of: vow_none(), thread), with: fixture) { _, context in
            asValue(context!.object(Fixture.self).inner)
        }
        drop(derived)
        XCTAssertEqual(journal.entries, [])
        resolveLast(inner, vow_none())
    }

    func testResolvingAPromiseThatNobodyReadsLosesTheInterestInWhatItWouldFollow() {
        let inner = watched()
        let outer = openPromise()
        drop(outer)
        resolveLast(outer, asValue(inner))
        XCTAssertEqual(journal.entries, [1, -1])
        resolveLast(inner, vow_none())
    }

    func testG6_aLongPathLetsGoOnASmallStack() {
        Worker(stack: 64 * 1024) {
            let inner = openPromise()
            let promises = (0..<100_000).map { _ in openPromise() }
            var last = inner
            for promise in promises {
                resolveLast(promise, asValue(last))
                last = promise
            }
            drop(last)
            resolveLast(inner, vow_none())
        }.join()
    }

    func testG12_theLastReaderGoesWhileThePromiseSettlesOrFollows() {
        for round in 0..<600 {
            let inner = openPromise()
            let end = openPromise()
            end.retain()
            let outer = openPromise()
            resolveLast(outer, asValue(inner))
            onThreads(2) { index in
                if index == 0 {
                    drop(outer)
                } else {
                    resolveLast(inner, round % 2 == 0 ? vow_int(1) : asValue(end))
                }
            }
            if round % 2 == 0 { drop(end) }
            resolveLast(end, vow_none())
            drop(end)
        }
    }
}
