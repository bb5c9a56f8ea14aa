// Tests G6: a million links, adoptions or nested values, on a thread with a stack of 64 KiB.

import CVow
import XCTest

private let links = 1_000_000
private let smallStack = 64 * 1024

final class DepthTests: CTest {
    private func chain(of count: Int, on executor: OpaquePointer) -> (OpaquePointer, OpaquePointer)
    {
        let (promise, resolver) = create()
        var end = promise
        for _ in 0..<count { end = link(end, on: executor, fulfilled: addOne) }
        return (end, resolver)
    }

    private func onSmallStack(_ body: @escaping () -> Void) {
        Worker(stack: smallStack, body).join()
    }

    func testG6_aMillionInlineLinksResolveAndFree() {
        onSmallStack {
            let (end, resolver) = self.chain(of: links, on: vow_executor_inline())
            finish(resolver, vow_int(0))
            XCTAssertEqual(outcome(of: end), .integer(Int64(links)))
        }
    }

    func testG6_aMillionLinksOnASerialQueueResolveAndFree() {
        let serial = vow_executor_serial("deep")!
        onSmallStack {
            let (end, resolver) = self.chain(of: links, on: serial)
            finish(resolver, vow_int(0))
            XCTAssertEqual(vow_await(end, 6 * oneMinute, nil), Int32(VOW_FULFILLED))
            XCTAssertEqual(outcome(of: end), .integer(Int64(links)))
        }
        vow_executor_release(serial)
    }

    func testG6_aMillionLinksThatNobodyHoldsAreFreedWhenTheirResolverGoes() {
        onSmallStack {
            let (end, resolver) = self.chain(of: links, on: vow_executor_inline())
            let unwatched = link(end, rejected: { _, _ in vow_none() })
            vow_promise_release(unwatched)
            vow_resolver_release(resolver)
        }
    }

    func testG6_manyAdoptionsInARowSettleAndFree() {
        onSmallStack {
            let (innermost, resolver) = create()
            var outer = innermost
            for _ in 0..<links / 4 {
                let (promise, next) = create()
                finish(next, vow_from_promise(outer))
                outer = promise
            }
            finish(resolver, vow_int(4))
            XCTAssertEqual(outcome(of: outer), .integer(4))
        }
    }

    func testG6_aMillionNestedValuesAreFreed() {
        onSmallStack {
            var value = vow_int(0)
            for _ in 0..<links { value = vow_list([value], 1) }
            vow_promise_release(vow_promise_with(value))
        }
    }
}
