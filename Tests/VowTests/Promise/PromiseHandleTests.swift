// Tests PromiseHandle.swift: a record is there for as long as Swift or C has a reference to it.

import CVow
import Dispatch
import Vow
import XCTest

final class PromiseHandleTests: VowTest {
    func testARecordOutlivesTheLastCopyInSwift() {
        var resolver: PromiseResolver<String, any Error>?
        let pointer = makePending(&resolver)
        XCTAssertEqual(vow_promise_state(pointer), VOW_PENDING)
        let again = Promise<String, any Error>(borrowing: pointer)
        resolver?.fulfill("still here")
        XCTAssertEqual(try again.wait(), "still here")
        vow_promise_release(pointer)
    }

    /// No copy in Swift is left when this returns.
    private func makePending(_ resolver: inout PromiseResolver<String, any Error>?) -> OpaquePointer
    {
        let (promise, made) = Promise<String, any Error>.pending()
        resolver = made
        return promise.makeCPromise()
    }

    func testAPromiseMayComeBackFromCManyTimes() throws {
        let promise = Promise<Int, any Error>.value(3)
        let copies = (0..<10).map { _ in
            Promise<Int, any Error>(taking: promise.makeCPromise())
        }
        XCTAssertTrue(copies.allSatisfy { $0 == promise })
        XCTAssertEqual(try copies.map { try $0.wait() }.reduce(0, +), 30)
    }

    func testTheLastCopyAndTheLastReferenceOfTheCoreMayGoAtTheSameMoment() {
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for round in 0..<2_000 {
                let (promise, resolver) = Promise<Int, any Error>.pending()
                let end = promise.map(on: .inline) { $0 + round }.map(on: .pool) { $0 + 1 }
                DispatchQueue.global().async { resolver.fulfill(1) }
                if round.isMultiple(of: 3) { end.cancel() }
            }
        }
    }

    func testManyThreadsShareOnePromise() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let sums = Journal<Int>()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in 0..<500 {
                let copy = promise
                copy.onSuccess(on: .inline) { sums.write($0 + index) }
                if thread == 3 && index == 250 { resolver.fulfill(1) }
            }
        }
        eventually("every handler runs") { sums.entries.count == 4_000 }
    }

    func testALongChainIsFreedWithoutRecursion() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        var end = promise
        for _ in 0..<100_000 { end = end.map(on: .inline) { $0 + 1 } }
        resolver.fulfill(0)
        XCTAssertEqual(try end.wait(), 100_000)
    }

    func testALongChainThatNobodyHoldsBreaksWithoutRecursion() {
        UnhandledRejections.setHandler { _ in }
        defer { UnhandledRejections.setHandler(nil) }
        let (promise, resolver) = Promise<Int, any Error>.pending()
        var end = promise
        for _ in 0..<100_000 { end = end.map(on: .inline) { $0 + 1 } }
        end = promise
        withExtendedLifetime(resolver) {}
    }
}
