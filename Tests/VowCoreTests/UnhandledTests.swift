// Tests who is told of a rejection that nobody observed.

import CVow
import XCTest

@testable import VowCore

final class UnhandledTests: CoreTest {
    private let reports = Journal()

    override func setUp() {
        super.setUp()
        setUnhandledHook(
            { error, context in context!.object(Journal.self).write(Int(code(of: error)!)) },
            pointer(to: reports))
    }

    override func tearDown() {
        setUnhandledHook(nil, nil)
        super.tearDown()
    }

    func testG10_anUnobservedRejectionIsReportedOnceWhenThePromiseDies() {
        let promise = makePromise(of: failure(3), thread)
        promise.retain()
        drop(promise)
        XCTAssertEqual(reports.entries, [])
        drop(promise)
        XCTAssertEqual(reports.entries, [3])
    }

    func testG10_anObservedRejectionIsNotReported() {
        dropObserved(makePromise(of: failure(3), thread))
        XCTAssertEqual(reports.entries, [])
    }

    func testG10_aFulfilmentIsNotReported() {
        drop(makePromise(of: vow_int(3), thread))
        XCTAssertEqual(reports.entries, [])
    }

    func testG10_aRejectionIsReportedAtTheEndOfAChainAndNotAlongIt() {
        let root = openPromise()
        var end = root
        for _ in 0..<3 { end = link(end) { _, _ in vow_none() } }
        resolveLast(root, failure(8))
        XCTAssertEqual(reports.entries, [])
        drop(end)
        XCTAssertEqual(reports.entries, [8])
    }

    func testG10_eachUnobservedBranchIsReported() {
        let root = makePromise(of: failure(8), thread)
        let first = branch(root) { _, _ in vow_none() }
        let second = branch(root) { _, _ in vow_none() }
        drop(first, second, root)
        XCTAssertEqual(reports.entries, [8, 8])
    }

    func testG10_aBrokenPromiseThatNobodyHoldsIsNotReported() {
        let promise = openPromise()
        drop(promise)
        promise.releaseResolver(thread)
        XCTAssertEqual(reports.entries, [])
    }

    func testG10_anAdoptedRejectionIsReportedByTheAdopterAlone() {
        let inner = makePromise(of: failure(5), thread)
        let outer = openPromise()
        resolveLast(outer, asValue(inner))
        XCTAssertEqual(reports.entries, [])
        drop(outer)
        XCTAssertEqual(reports.entries, [5])
    }

    func testG10_theTimeoutOfAWaitDoesNotObserve() {
        let promise = openPromise()
        XCTAssertEqual(waitFor(promise, nanoseconds: 1_000_000), .timedOut)
        resolveLast(promise, failure(2))
        drop(promise)
        XCTAssertEqual(reports.entries, [2])
    }

    func testG5_theHookMayMakeAndDropPromises() {
        setUnhandledHook(
            { error, context in
                let journal = context!.object(Journal.self)
                journal.write(Int(code(of: error)!))
                // Another rejection nobody observes: reported too, after this call.
                if journal.entries.count < 4 {
                    drop(makePromise(of: failure(code(of: error)! + 1), currentThread()))
                    journal.write(-1)
                }
            }, pointer(to: reports))
        drop(makePromise(of: failure(1), thread))
        XCTAssertEqual(reports.entries, [1, -1, 2, -1, 3])
    }

    func testWithoutAHookTheRejectionIsOneLineOnStandardError() {
        setUnhandledHook(nil, nil)
        // Other tests have had theirs.
        forgetReports()
        let lines = standardError {
            drop(makePromise(of: failure(12), thread))
            let label: StaticString = "fetch"
            let chars = UnsafeRawPointer(label.utf8Start).assumingMemoryBound(to: CChar.self)
            let derived = react(
                to: makePromise(of: failure(13), thread),
                Reaction(
                    shape: [.link, .extras], handler: nil, context: nil,
                    executor: ownExecutors.inline,
                    extras: LinkExtras(onRejected: nil, destroy: nil, label: chars)), thread)
            drop(derived)
        }
        XCTAssertEqual(
            lines,
            "vow: unhandled rejection: error test 12\n"
                + "vow: unhandled rejection of 'fetch': error test 13\n")
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
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count - 1, file)
        fclose(file)
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
