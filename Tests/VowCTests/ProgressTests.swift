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
}
