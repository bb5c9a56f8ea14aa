// Tests progress through the header, from Swift.

import CVow
import XCTest

/// What a listener heard.
private final class Ear: @unchecked Sendable {
    private let lock = NSLock()
    private var heard: [(Double, String?)] = []
    private var ends = 0

    func hear(_ fraction: Double, _ note: String?) {
        lock.withLock { heard.append((fraction, note)) }
    }
    func end() { lock.withLock { ends += 1 } }

    var fractions: [Double] { lock.withLock { heard.map(\.0) } }
    var notes: [String?] { lock.withLock { heard.map(\.1) } }
    var endCount: Int { lock.withLock { ends } }
}

final class ProgressTests: CTest {
    private func listen(_ promise: OpaquePointer, every interval: Int64 = 0, _ ear: Ear) -> Int32 {
        vow_executor_set_default(vow_executor_inline())
        defer { vow_executor_set_default(nil) }
        return vow_on_progress(
            promise, interval,
            { fraction, note, context in
                context!.object(Ear.self).hear(fraction, note.map { String(cString: $0) })
            }, owned(ear),
            { context in
                context!.object(Ear.self).end()
                releaseContext(context)
            })
    }

    func testAListenerHearsWhatIsSet() {
        let ear = Ear()
        let (promise, resolver) = create()
        XCTAssertEqual(listen(promise, ear), 0)
        XCTAssertEqual(vow_promise_set_progress(promise, 0.25, "reading"), 0)
        XCTAssertEqual(vow_resolver_set_progress(resolver, 0.5, nil), 0)
        XCTAssertEqual(ear.fractions, [0.25, 0.5])
        XCTAssertEqual(ear.notes, ["reading", nil])
        finish(resolver, vow_int(1))
        XCTAssertEqual(vow_promise_set_progress(promise, 0.75, nil), 0)
        XCTAssertEqual(ear.fractions, [0.25, 0.5])
        XCTAssertEqual(ear.endCount, 0)
        vow_promise_release(promise)
        XCTAssertEqual(ear.endCount, 1)
    }

    func testWhatIsNoNumberIsRefused() {
        let ear = Ear()
        let (promise, resolver) = create()
        XCTAssertEqual(listen(promise, ear), 0)
        XCTAssertEqual(vow_promise_set_progress(promise, .nan, nil), VOW_EINVAL)
        XCTAssertEqual(vow_promise_set_progress(promise, -.infinity, nil), 0)
        XCTAssertEqual(vow_promise_set_progress(promise, .infinity, nil), 0)
        XCTAssertEqual(ear.fractions, [0, 1])
        finish(resolver, vow_none())
        vow_promise_release(promise)
    }

    func testANegativeIntervalEndsTheContext() {
        let ear = Ear()
        let (promise, resolver) = create()
        XCTAssertEqual(listen(promise, every: -1, ear), VOW_EINVAL)
        XCTAssertEqual(ear.endCount, 1)
        finish(resolver, vow_none())
        vow_promise_release(promise)
    }

    func testTheNewestIsToldWhenTheIntervalIsOver() {
        let ear = Ear()
        let loop = vow_loop_create_virtual()!
        let (promise, resolver) = create()
        XCTAssertEqual(listen(promise, every: 1_000_000_000, ear), 0)
        for step in 1...4 {
            XCTAssertEqual(vow_promise_set_progress(promise, Double(step) / 8, nil), 0)
            XCTAssertGreaterThanOrEqual(vow_loop_run_once(loop, 0), 0)
        }
        XCTAssertEqual(ear.fractions, [0.125])
        XCTAssertGreaterThanOrEqual(vow_loop_advance(loop, 1_000_000_000), 0)
        XCTAssertEqual(ear.fractions, [0.125, 0.5])
        finish(resolver, vow_none())
        vow_promise_release(promise)
        vow_loop_destroy(loop)
        XCTAssertEqual(ear.endCount, 1)
    }
}
