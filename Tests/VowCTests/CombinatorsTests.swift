// Tests chapter 10 of vow.h, and the time-outs and retries of chapter 8.

import CVow
import XCTest

/// Calls a combinator with promises (consumed).
private func combine(
    _ promises: [OpaquePointer],
    _ body: (UnsafePointer<OpaquePointer?>, Int) -> OpaquePointer
) -> OpaquePointer {
    promises.map { Optional($0) }.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }
}

/// Waits for a promise (consumed), and looks at its value or error.
private func outcomeValue<Result>(
    of promise: OpaquePointer, _ body: (vow_value) -> Result
) -> Result {
    var out = vow_none()
    XCTAssertGreaterThan(vow_await(promise, oneMinute, &out), 0)
    defer {
        vow_value_release(out)
        vow_promise_release(promise)
    }
    return body(out)
}

private func integers(_ list: vow_value) -> [Int64] {
    (0..<vow_list_count(list)).map { vow_list_at(list, $0).as.integer }
}

private func list(_ count: Int64) -> vow_value {
    let items = (0..<count).map { vow_int($0) }
    return vow_list(items, items.count)
}

private func some(_ count: Int64) -> [OpaquePointer] {
    (0..<count).map { vow_promise_with(vow_int($0)) }
}

final class CombinatorsTests: CTest {

    func testMapReduceAndRepeat() {
        let map = vow_map(list(5), addOne, nil, 2)
        XCTAssertEqual(outcomeValue(of: map, integers), [1, 2, 3, 4, 5])
        let sum = combine(some(5)) { promises, count in
            vow_reduce(
                promises, count, vow_int(100),
                { sum, item, _ in vow_int(sum.as.integer + item.as.integer) }, nil)
        }
        XCTAssertEqual(outcome(of: sum), .integer(110))
        let loop = vow_repeat(vow_int(0), { state, _ in state.as.integer < 10 }, addOne, nil)
        XCTAssertEqual(outcome(of: loop), .integer(10))
    }

    func testAScopeWaitsForItsMembers() {
        let scope = vow_scope_create()!
        let (member, resolver) = create()
        XCTAssertEqual(vow_scope_add(scope, member), 0)
        let end = vow_scope_close(scope)
        XCTAssertEqual(vow_promise_state(end), VOW_PENDING)
        finish(resolver, failure(4))
        XCTAssertEqual(outcome(of: end), .error(4))
    }

    func testTimeoutAndRetry() {
        let (slow, resolver) = create()
        XCTAssertEqual(outcome(of: vow_timeout(slow, 1_000_000)), .error(Int64(VOW_ETIMEDOUT)))
        vow_resolver_release(resolver)
        let second = vow_retry(
            nil, { number, _ in number.as.integer < 2 ? failure(1) : vow_value_retain(number) }, nil
        )
        XCTAssertEqual(outcome(of: second), .integer(2))
        outcomeValue(of: vow_retry(nil, { _, _ in failure(3) }, nil)) {
            XCTAssertEqual(vow_error_attempts($0), 3)
        }
    }
}
