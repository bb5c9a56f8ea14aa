// Tests making promises of values, and what resolving with each kind of value does.

import CVow
import XCTest

@testable import VowCore

final class CreateTests: CoreTest {
    private let kinds: [() -> vow_value] = [
        { vow_none() }, { vow_bool(true) }, { vow_int(1) }, { vow_double(1) }, { vow_pointer(nil) },
        { makeString("s", length: 1)! }, { makeList([vow_int(1)], count: 1)! }, { failure(1) },
    ]

    func testAPromiseOfAValueIsSettledWithOneAllocation() {
        for make in kinds {
            let value = make()
            var promise: RecordPointer!
            let cost = Cost.of { promise = makePromise(of: value, thread) }
            XCTAssertEqual(cost, Cost(taken: 40, made: 1, settled: 1))
            XCTAssertEqual(phase(of: promise), .settled)
            XCTAssertEqual(promise.value.kind, value.kind)
            XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
            dropObserved(promise)
        }
    }

    func testAPromiseOfAPromiseIsThatPromise() {
        let promise = openPromise()
        let cost = Cost.of { XCTAssertEqual(makePromise(of: asValue(promise), thread), promise) }
        XCTAssertEqual(cost, Cost())
        resolveLast(promise, vow_none())
        drop(promise)
    }

    func testResolvingWithEachKindSettlesWithThatValue() {
        for make in kinds {
            let promise = openPromise()
            let value = make()
            XCTAssertTrue(resolveLast(promise, value))
            XCTAssertEqual(phase(of: promise), .settled)
            XCTAssertEqual(promise.value.kind, value.kind)
            XCTAssertEqual(promise.value.as.integer, value.as.integer)
            dropObserved(promise)
        }
    }

    func testG1_theFirstResolutionWinsAndLaterValuesAreReleased() {
        let promise = openPromise()
        promise.retainProducer()
        promise.retainProducer()
        XCTAssertTrue(resolveLast(promise, vow_int(1)))
        for make in kinds { promise.retainProducer(); XCTAssertFalse(resolveLast(promise, make())) }
        promise.releaseResolver(thread)
        promise.releaseResolver(thread)
        XCTAssertEqual(promise.value.as.integer, 1)
        drop(promise)
    }

    func testAnErrorIsRejectedWithAsItIs() {
        let error = failure(4)
        XCTAssertEqual(errorForRejection(error, thread).box, error.box)
        drop(error)
    }

    func testAnotherValueBecomesThePayloadOfAReason() {
        let string = makeString("why", length: 3)!
        let error = errorForRejection(string, thread)
        XCTAssertEqual(code(of: error), Int64(VOW_EREASON))
        let box = error.box!
        XCTAssertEqual(String(cString: box.domain), "vow")
        XCTAssertEqual(box.part(ErrorPart.self).pointee.payload.box, string.box)
        drop(error)
    }
}
