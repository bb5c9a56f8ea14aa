// Tests chapter 4 of vow.h: then, catch, finally, and everything that a reaction can say.

import CVow
import XCTest

/// Counts what becomes of a context that the library owns.
private final class Context {
    let calls: Counter
    let ends: Counter
    init(_ calls: Counter, _ ends: Counter) { (self.calls, self.ends) = (calls, ends) }
    deinit { ends.add() }
}

private func callContext(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    context!.object(Context.self).calls.add()
    return vow_value_retain(input)
}

private func double(_ error: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(vow_error_code(error) * 2)
}

final class ChainingTests: CTest {
    func testThenRunsOnFulfilmentAndPassesARejection() {
        XCTAssertEqual(
            outcome(of: vow_then(vow_promise_with(vow_int(1)), addOne, nil)), .integer(2))
        XCTAssertEqual(outcome(of: vow_then(vow_promise_with(failure(9)), addOne, nil)), .error(9))
    }

    func testCatchRunsOnRejectionAndPassesAValue() {
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(failure(9)), double, nil)), .integer(18))
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(vow_int(1)), double, nil)), .integer(1))
    }

    func testAHandlerThatReturnsAnErrorRejects() {
        let end = vow_then(vow_promise_with(vow_int(1)), { _, _ in failure(3) }, nil)
        XCTAssertEqual(outcome(of: end), .error(3))
    }

    func testAHandlerThatReturnsAPromiseIsWaitedFor() {
        let end = vow_then(
            vow_promise_with(vow_int(1)),
            { input, _ in
                vow_from_promise(vow_then(vow_promise_with(vow_value_retain(input)), addOne, nil))
            }, nil)
        XCTAssertEqual(outcome(of: vow_then(end, addOne, nil)), .integer(3))
    }

    func testFinallyPassesTheOutcomeOnUnlessItRejects() {
        let journal = Journal()
        for (value, wanted) in [(vow_int(5), Outcome.integer(5)), (failure(5), .error(5))] {
            let end = vow_finally(vow_promise_with(value), note, pointer(to: journal))
            XCTAssertEqual(outcome(of: end), wanted)
        }
        XCTAssertEqual(journal.entries, [5, -5])
        let rejects = vow_finally(vow_promise_with(vow_int(5)), { _, _ in failure(6) }, nil)
        XCTAssertEqual(outcome(of: rejects), .error(6))
        let waits = vow_finally(
            vow_promise_with(vow_int(5)),
            { _, _ in vow_from_promise(vow_promise_with(failure(7))) }, nil)
        XCTAssertEqual(outcome(of: waits), .error(7))
    }

    func testALinkWithBothHandlersRunsOneOfThem() {
        let answer: (vow_value) -> Outcome = { value in
            outcome(
                of: link(
                    vow_promise_with(value), fulfilled: { _, _ in vow_int(1) },
                    rejected: { _, _ in vow_int(2) }))
        }
        XCTAssertEqual(answer(vow_none()), .integer(1))
        XCTAssertEqual(answer(failure(1)), .integer(2))
    }

    func testG3_eachContextIsUsedAtMostOnceAndEndedExactlyOnce() {
        let (calls, ends) = (Counter(), Counter())
        var made = 0
        func context() -> UnsafeMutableRawPointer {
            made += 1
            return owned(Context(calls, ends))
        }
        for executor in [vow_executor_inline(), vow_executor_pool()] {
            // Handled, passed over, broken, and dropped.
            for value in [vow_int(1), failure(1)] {
                let end = link(
                    vow_promise_with(value), on: executor, context: context(),
                    destroy: releaseContext,
                    fulfilled: callContext)
                _ = outcome(of: end)
            }
            let (broken, brokenResolver) = create()
            let brokenEnd = link(
                broken, on: executor, context: context(), destroy: releaseContext,
                fulfilled: callContext)
            vow_resolver_release(brokenResolver)
            XCTAssertEqual(outcome(of: brokenEnd), .error(Int64(VOW_EBROKEN)))
            let (dropped, droppedResolver) = create()
            vow_promise_release(
                link(
                    dropped, on: executor, context: context(), destroy: releaseContext,
                    fulfilled: callContext))
            finish(droppedResolver, vow_none())
        }
        eventually("all contexts end") { ends.value == made }
        XCTAssertEqual(made, 8)
        XCTAssertEqual(calls.value, 4)
    }

    func testWrongCallsSayWhatIsWrongAndConsumeTheirArguments() {
        let (calls, ends) = (Counter(), Counter())
        func complaint(_ change: (inout vow_reaction) -> Void) -> String? {
            var reaction = vow_reaction()
            reaction.size = MemoryLayout<vow_reaction>.size
            reaction.context = owned(Context(calls, ends))
            reaction.destroy = releaseContext
            change(&reaction)
            return VowCTests.complaint(vow_then_with(vow_promise_with(vow_none()), &reaction))
        }
        XCTAssertEqual(
            complaint { $0.flags = 0x80 }, "vow_then_with: reaction->flags has unknown bits")
        XCTAssertEqual(ends.value, 1)
        XCTAssertEqual(calls.value, 0)
        // Too short to say where `destroy` is, so the context stays with the caller.
        var short = vow_reaction()
        short.size = 8
        XCTAssertEqual(
            VowCTests.complaint(vow_then_with(vow_promise_with(vow_none()), &short)),
            "vow_then_with: reaction->size is not the size of vow_reaction")
    }
}
