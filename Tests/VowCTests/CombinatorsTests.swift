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
    func testTimesAreOfTheTypeOfTheFunctionsThatTakeThem() {
        let times: [Int64] = [VOW_NS, VOW_US, VOW_MS, VOW_SECOND]
        XCTAssertEqual(times, [1, 1_000, 1_000_000, 1_000_000_000])
    }

    func testAllGivesTheValuesInOrder() {
        let all = combine(some(4)) { vow_all($0, $1) }
        XCTAssertEqual(outcomeValue(of: all, integers), [0, 1, 2, 3])
    }

    func testAllSaysWhichMemberFailed() {
        let all = combine(some(2) + [vow_promise_with(failure(7))]) { vow_all($0, $1) }
        outcomeValue(of: all) { error in
            XCTAssertEqual(vow_error_code(error), 7)
            XCTAssertEqual(vow_error_index(error), 2)
        }
    }

    func testAllSettledNeverRejects() {
        let all = combine(some(1) + [vow_promise_with(failure(7))]) { vow_all_settled($0, $1) }
        outcomeValue(of: all) { list in
            XCTAssertEqual(vow_list_at(list, 0).as.integer, 0)
            XCTAssertEqual(vow_error_code(vow_list_at(list, 1)), 7)
        }
    }

    func testAnyIsRejectedWithAllErrors() {
        let failures = [vow_promise_with(failure(1)), vow_promise_with(failure(2))]
        outcomeValue(of: combine(failures) { vow_any($0, $1) }) { error in
            XCTAssertEqual(vow_error_code(error), Int64(VOW_EAGGREGATE))
            XCTAssertEqual(vow_list_count(vow_error_payload(error)), 2)
        }
        let mixed = [vow_promise_with(failure(1))] + some(1)
        XCTAssertEqual(outcome(of: combine(mixed) { vow_any($0, $1) }), .integer(0))
    }

    func testSomeGivesAsManyAsWanted() {
        XCTAssertEqual(
            outcomeValue(of: combine(some(5)) { vow_some($0, $1, 2) }, integers), [0, 1])
    }

    func testRaceCancelsTheLosers() {
        let (slow, resolver) = create()
        let stopped = Counter()
        _ = vow_resolver_on_cancel(
            resolver, { $0!.object(Counter.self).add() }, pointer(to: stopped), nil)
        XCTAssertEqual(outcome(of: combine([slow] + some(1)) { vow_race($0, $1) }), .integer(0))
        XCTAssertEqual(stopped.value, 1)
        vow_resolver_release(resolver)
    }

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

    func testCatchIfTakesOnlyItsErrors() {
        let caught = vow_catch_if(vow_promise_with(failure(4)), nil, 4, { _, _ in vow_int(1) }, nil)
        XCTAssertEqual(outcome(of: caught), .integer(1))
        let passed = vow_catch_if(vow_promise_with(failure(5)), nil, 4, { _, _ in vow_int(1) }, nil)
        XCTAssertEqual(outcome(of: passed), .error(5))
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
