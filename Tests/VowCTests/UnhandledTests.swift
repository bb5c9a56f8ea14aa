// Tests chapter 12 of vow.h: who is told of a rejection that nobody observed.

import CVow
import XCTest

final class UnhandledTests: CTest {
    private let reports = Journal()

    override func setUp() {
        super.setUp()
        vow_on_unhandled(
            { error, context in context!.object(Journal.self).write(Int(vow_error_code(error))) },
            pointer(to: reports))
    }

    override func tearDown() {
        vow_on_unhandled(nil, nil)
        super.tearDown()
    }

    func testG10_aRejectionNobodyObservedIsReportedOnce() {
        let promise = vow_promise_with(failure(3))
        _ = vow_promise_retain(promise)
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [])
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [3])
    }

    func testG10_lookingAwaitingReactingAndAdoptingObserve() {
        var value = vow_none()
        let looked = vow_promise_with(failure(1))
        XCTAssertTrue(vow_promise_peek(looked, &value))
        vow_promise_release(looked)
        let awaited = vow_promise_with(failure(2))
        XCTAssertEqual(vow_await(awaited, 0, nil), Int32(VOW_REJECTED))
        vow_promise_release(awaited)
        let caught = link(vow_promise_with(failure(3)), rejected: { _, _ in vow_none() })
        vow_promise_release(caught)
        let (outer, resolver) = create()
        finish(resolver, vow_from_promise(vow_promise_with(failure(4))))
        XCTAssertEqual(reports.entries, [])
        vow_promise_release(outer)
        XCTAssertEqual(reports.entries, [4])
    }

    func testG10_readingTheStateDoesNotObserve() {
        let promise = vow_promise_with(failure(5))
        XCTAssertEqual(vow_promise_state(promise), VOW_REJECTED)
        XCTAssertTrue(vow_promise_peek(promise, nil))
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [5])
    }

    func testG10_aChainIsReportedOnceAtItsEnd() {
        var end = vow_promise_with(failure(6))
        for _ in 0..<5 { end = link(end, fulfilled: pass) }
        vow_promise_release(end)
        XCTAssertEqual(reports.entries, [6])
    }

    func testG10_aBrokenPromiseThatNobodyCanSeeIsNotReported() {
        let (promise, resolver) = create()
        vow_promise_release(promise)
        vow_resolver_release(resolver)
        XCTAssertEqual(reports.entries, [])
        let (seen, other) = create()
        vow_resolver_release(other)
        vow_promise_release(seen)
        XCTAssertEqual(reports.entries, [Int(VOW_EBROKEN)])
    }

    func testG10_rejectionsOnOtherThreadsAreReportedThereAndOnce() {
        onThreads(4) { index in
            for _ in 0..<100 { vow_promise_release(vow_promise_with(failure(Int64(index)))) }
        }
        XCTAssertEqual(reports.entries.count, 400)
        for index in 0..<4 { XCTAssertEqual(reports.entries.filter { $0 == index }.count, 100) }
        XCTAssertEqual(reports.threads.count, 4)
    }

    func testG5_theHookMayUseEveryFunction() {
        vow_on_unhandled(
            { error, context in
                context!.object(Journal.self).write(Int(vow_error_code(error)))
                let copy = vow_promise_with(vow_value_retain(error))
                let end = link(copy, context: context, rejected: note)
                vow_on_unhandled(nil, nil)
                vow_promise_release(end)
            }, pointer(to: reports))
        let (promise, resolver) = create()
        vow_reject(resolver, failure(7))
        vow_resolver_release(resolver)
        // `note` hands the error on, so that end is reported too: by then to the default hook.
        let line = standardError { vow_promise_release(promise) }
        XCTAssertEqual(reports.entries, [7, -7])
        XCTAssertEqual(line, "vow: unhandled rejection: error test 7\n")
    }

    func testWithoutAHookTheRejectionIsOneLineOnStandardError() {
        vow_on_unhandled(nil, nil)
        let line = standardError {
            vow_promise_release(vow_promise_with(vow_error("net", 8, "refused")))
        }
        XCTAssertEqual(line, "vow: unhandled rejection: error net 8: refused\n")
    }

    /// What is written to standard error while the body runs.
    private func standardError(_ body: () -> Void) -> String {
        let file = tmpfile()!
        fflush(nil)
        let saved = dup(2)
        dup2(fileno(file), 2)
        body()
        dup2(saved, 2)
        close(saved)
        rewind(file)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        fclose(file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
