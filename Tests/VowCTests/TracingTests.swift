// Tests tracing through the header, from Swift: what is written is read by Foundation.

import CVow
import Foundation
import XCTest

final class TracingTests: CTest {
    private let path = NSTemporaryDirectory() + "vow-tracing-\(getpid()).json"

    override func tearDown() {
        _ = vow_trace_stop()
        unlink(path)
        super.tearDown()
    }

    private func events() throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let whole = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try XCTUnwrap(whole["traceEvents"] as? [[String: Any]])
    }

    func testTheHistoryIsJSONAndTellsOfAChain() throws {
        _ = vow_trace_stop()
        XCTAssertEqual(vow_trace_start(path), 0)
        XCTAssertEqual(vow_trace_start(path), VOW_EINVAL)
        let (promise, resolver) = create()
        vow_promise_set_label(promise, "the \"first\"\n\u{1F600}")
        let next = link(promise, fulfilled: addOne)
        vow_promise_set_label(next, "next")
        finish(resolver, vow_int(1))
        vow_promise_release(next)
        XCTAssertEqual(vow_trace_stop(), 0)
        let events = try events()
        let begun = events.filter { $0["ph"] as? String == "b" }
        let first = try XCTUnwrap(
            begun.first { $0["name"] as? String == "the \"first\"\n\u{1F600}" })
        let then = try XCTUnwrap(begun.first { $0["name"] as? String == "next" })
        let arguments = try XCTUnwrap(then["args"] as? [String: Any])
        XCTAssertEqual(arguments["reads"] as? String, first["id"] as? String)
        XCTAssertEqual(arguments["kind"] as? String, "then")
        let ended = events.first { $0["ph"] as? String == "e" && $0["name"] as? String == "next" }
        XCTAssertEqual((ended?["args"] as? [String: Any])?["value"] as? String, "integer")
        XCTAssertTrue(events.contains { $0["cat"] as? String == "handler" })
    }
}
