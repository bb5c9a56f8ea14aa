// Tests finally: the outcome passes, unless the handler's own result is a rejection.

import CVow
import XCTest

@testable import VowCore

private let shape: Shape = [.link, .onFulfilled, .onRejected, .finally]

/// A promise that a handler returns, and how often handlers ran.
private final class Fixture {
    var inner: RecordPointer?
    var calls = 0
}

private let returnInner: Handler = { _, context in
    let fixture = context!.object(Fixture.self)
    fixture.calls += 1
    guard let inner = fixture.inner else { return vow_int(-1) }
    inner.retain()
    return asValue(inner)
}

final class FinallyTests: CoreTest {
    func testAnOutcomePassesWhateverTheHandlerReturns() {
        for outcome in [{ vow_int(5) }, { failure(5) }] {
            let fixture = Fixture()
            let derived = link(
                makePromise(of: outcome(), thread), shape, with: fixture, returnInner)
            XCTAssertEqual(fixture.calls, 1)
            let value = derived.value
            XCTAssertEqual(value.isError ? code(of: value) : value.as.integer, 5)
            dropObserved(derived)
        }
    }

    func testAnErrorAsAResultReplacesEitherOutcome() {
        for outcome in [{ vow_int(5) }, { failure(5) }] {
            let derived = link(makePromise(of: outcome(), thread), shape) { _, _ in failure(6) }
            XCTAssertEqual(code(of: derived.value), 6)
            dropObserved(derived)
        }
    }

    func testTheResultOfAHandlerIsReleased() {
        let value = makeString("result", length: 6)!
        final class Holder {
            let value: vow_value
            init(_ value: vow_value) { self.value = value }
        }
        let holder = Holder(value)
        let derived = link(makePromise(of: vow_int(1), thread), shape, with: holder) { _, context in
            context!.object(Holder.self).value.retained()
        }
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 1)
        XCTAssertEqual(derived.value.as.integer, 1)
        drop(derived)
        drop(value)
    }

    func testAPendingPromiseIsWaitedForWithTheOutcomeHeld() {
        for outcome in [{ vow_int(5) }, { failure(5) }] {
            for (inner, wanted) in [({ vow_int(1) }, Int64(5)), ({ failure(6) }, 6)] {
                let fixture = Fixture()
                fixture.inner = openPromise()
                let derived = link(
                    makePromise(of: outcome(), thread), shape, with: fixture, returnInner)
                XCTAssertEqual(phase(of: derived), .following)
                XCTAssertTrue(derived.passage.contains(.outcomeIsHeld))
                let cost = Cost.of { resolveLast(fixture.inner!, inner()) }
                XCTAssertEqual(cost.settled, 2)
                XCTAssertFalse(derived.passage.contains(.outcomeIsHeld))
                let value = derived.value
                XCTAssertEqual(value.isError ? code(of: value) : value.as.integer, wanted)
                dropObserved(derived)
                drop(fixture.inner!)
            }
        }
    }

    func testWaitingTakesNoMemory() {
        let fixture = Fixture()
        fixture.inner = openPromise()
        let root = openPromise()
        let derived = link(root, shape, with: fixture, returnInner)
        let cost = Cost.of {
            resolveLast(root, vow_int(1))
            resolveLast(fixture.inner!, vow_none())
        }
        XCTAssertEqual(cost.taken, 0)
        drop(derived, fixture.inner!)
    }

    func testALinkBehindAWaitingFinallySeesTheHeldOutcome() {
        let fixture = Fixture()
        fixture.inner = openPromise()
        let waiting = link(makePromise(of: vow_int(20), thread), shape, with: fixture, returnInner)
        let derived = link(waiting) { input, _ in vow_int(input.as.integer + 1) }
        resolveLast(fixture.inner!, makeString("ignored", length: 7)!)
        XCTAssertEqual(derived.value.as.integer, 21)
        drop(derived, fixture.inner!)
    }

    func testAFollowerOfAWaitingFinallyDoesNotMovePastIt() {
        let fixture = Fixture()
        fixture.inner = openPromise()
        let root = openPromise()
        let waiting = link(root, shape, with: fixture, returnInner)
        let outer = openPromise()
        resolveLast(outer, asValue(waiting))
        resolveLast(root, vow_int(30))
        XCTAssertEqual(outer.upstream, waiting)
        resolveLast(fixture.inner!, vow_int(1))
        XCTAssertEqual(outer.value.as.integer, 30)
        drop(outer, fixture.inner!)
    }

    func testAFinallyThatReturnsItselfIsACycle() {
        let fixture = Fixture()
        let root = openPromise()
        let derived = link(root, shape, with: fixture, returnInner)
        fixture.inner = derived
        resolveLast(root, vow_int(1))
        XCTAssertEqual(code(of: derived.value), Int64(VOW_ECYCLE))
        dropObserved(derived)
    }

    func testADroppedFinallyStillRunsItsHandlerAndReleasesEverything() {
        let fixture = Fixture()
        fixture.inner = openPromise()
        let root = openPromise()
        drop(link(root, shape, with: fixture, returnInner))
        resolveLast(root, vow_int(1))
        XCTAssertEqual(fixture.calls, 1)
        resolveLast(fixture.inner!, vow_none())
        drop(fixture.inner!)
    }
}
