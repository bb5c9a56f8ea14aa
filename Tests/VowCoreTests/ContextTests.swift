// Tests the value that travels along: who carries it, and what it costs.

import CVow
import XCTest

@testable import VowCore

private let readContext: Handler = { _, _ in currentThread().pointee.context.retained() }

final class ContextTests: CoreTest {
    override func tearDown() {
        setContext(vow_none(), thread)
        super.tearDown()
    }

    func testWithoutAContextNothingIsAdded() {
        let promise = openPromise()
        var derived: RecordPointer!
        XCTAssertEqual(Cost.of { derived = branch(promise, readContext: ()) }.taken, 72)
        XCTAssertFalse(derived.pointee.shape.isTravelling)
        resolveLast(promise, vow_none())
        XCTAssertEqual(derived.value.kind, VOW_NONE)
        drop(derived, promise)
    }

    func testAReactionCarriesWhatWasSetWhereItWasMade() {
        let promise = openPromise()
        setContext(vow_int(1), thread)
        let first = branch(promise, readContext: ())
        setContext(vow_int(2), thread)
        let second = branch(promise, readContext: ())
        setContext(vow_none(), thread)
        let third = branch(promise, readContext: ())
        setContext(vow_int(4), thread)
        resolveLast(promise, vow_none())
        XCTAssertEqual(first.value.as.integer, 1)
        XCTAssertEqual(second.value.as.integer, 2)
        XCTAssertEqual(third.value.kind, VOW_NONE)
        XCTAssertEqual(thread.pointee.context.as.integer, 4)
        drop(first, second, third, promise)
    }

    func testItIsCountedOncePerReactionAndGivenBackWithIt() {
        let value = makeString("user", length: 4)!
        let promise = openPromise()
        setContext(value.retained(), thread)
        let derived = branch(promise, readContext: ())
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 3)
        setContext(vow_none(), thread)
        resolveLast(promise, vow_none())
        XCTAssertEqual(derived.value.box, value.box)
        drop(derived, promise)
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 1)
        drop(value)
    }

    func testWhatAHandlerSetsEndsWithIt() {
        for outside in [vow_none(), vow_int(9)] {
            setContext(outside, thread)
            let derived = link(makePromise(of: vow_none(), thread)) { _, _ in
                setContext(makeString("inside", length: 6)!, currentThread())
                return vow_none()
            }
            XCTAssertEqual(thread.pointee.context.kind, outside.kind)
            XCTAssertEqual(thread.pointee.context.as.integer, outside.as.integer)
            drop(derived)
        }
    }

    func testAThreadThatEndsGivesItsContextBack() {
        Worker { setContext(makeString("left", length: 4)!, currentThread()) }.join()
    }
}

private func branch(_ promise: RecordPointer, readContext _: Void) -> RecordPointer {
    promise.retain()
    let thread = currentThread()
    let derived = react(
        to: promise,
        Reaction(
            shape: [.link, .onFulfilled], handler: readContext, context: nil,
            executor: ownExecutors.inline), thread)
    leave(thread)
    return derived
}
