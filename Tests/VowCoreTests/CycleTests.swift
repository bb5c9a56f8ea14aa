// Tests that a ring of adoptions is found, however long it is and whoever closes it.

import CVow
import XCTest

@testable import VowCore

final class CycleTests: CoreTest {
    func testG8_aPromiseResolvedWithItselfIsRejected() {
        let promise = openPromise()
        promise.retain()
        XCTAssertTrue(resolveLast(promise, asValue(promise)))
        XCTAssertEqual(code(of: promise.value), Int64(VOW_ECYCLE))
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        dropObserved(promise)
    }

    func testG8_aHandlerThatReturnsItsOwnPromiseIsRejected() {
        final class Fixture { var own: RecordPointer! }
        let fixture = Fixture()
        let root = openPromise()
        fixture.own = link(root, with: fixture) { _, context in
            let own = context!.object(Fixture.self).own!
            own.retain()
            return asValue(own)
        }
        resolveLast(root, vow_none())
        XCTAssertEqual(code(of: fixture.own.value), Int64(VOW_ECYCLE))
        dropObserved(fixture.own)
    }

    /// Each promise of the ring follows the next one, in the given order of steps.
    private func check(
        _ length: Int, order: [Int], file: StaticString = #filePath, line: UInt = #line
    ) {
        let ring = (0..<length).map { _ in openPromise() }
        for index in order {
            let next = ring[(index + 1) % length]
            next.retain()
            resolveLast(ring[index], asValue(next))
        }
        for promise in ring {
            XCTAssertEqual(code(of: promise.value), Int64(VOW_ECYCLE), file: file, line: line)
        }
        for promise in ring { dropObserved(promise) }
    }

    func testG8_ringsOfEveryLengthAreRejectedInEveryOrderOfClosing() {
        for length in 1...5 {
            for order in permutations(of: Array(0..<length)) { check(length, order: order) }
        }
    }

    func testG8_longRingsAreRejectedOnASmallStack() {
        Worker(stack: 64 * 1024) {
            self.check(1000, order: Array(0..<1000))
            self.check(1000, order: (0..<1000).reversed())
        }.join()
    }

    func testG8_aRingClosedByManyThreadsAtOnceIsRejected() {
        for _ in 0..<300 {
            let ring = (0..<4).map { _ in openPromise() }
            onThreads(4) { index in
                let next = ring[(index + 1) % 4]
                next.retain()
                resolveLast(ring[index], asValue(next))
            }
            for promise in ring {
                expectSettled(promise)
                XCTAssertEqual(code(of: promise.value), Int64(VOW_ECYCLE))
                dropObserved(promise)
            }
        }
    }

    func testG8_whatFollowsARingIsRejectedToo() {
        let first = openPromise()
        let second = openPromise()
        let outside = openPromise()
        first.retain()
        resolveLast(outside, asValue(first))
        second.retain()
        resolveLast(first, asValue(second))
        first.retain()
        resolveLast(second, asValue(first))
        for promise in [first, second, outside] {
            XCTAssertEqual(code(of: promise.value), Int64(VOW_ECYCLE))
        }
        for promise in [first, second, outside] { dropObserved(promise) }
    }
}
