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

    private func graph() throws -> [String: Any] {
        let file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
        XCTAssertEqual(vow_graph_write(file, VOW_GRAPH_JSON), 0)
        close(file)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
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

    func testTheGraphHasWhatIsPending() throws {
        _ = vow_trace_stop()
        XCTAssertEqual(vow_trace_start(nil), 0)
        let (promise, resolver) = create()
        let next = link(promise, fulfilled: addOne)
        XCTAssertEqual(vow_promise_set_progress(next, 0.5, nil), 0)
        let graph = try graph()
        let edges = try XCTUnwrap(graph["edges"] as? [[String: String]])
        XCTAssertEqual(edges.map { $0["kind"] }, ["reads"])
        let nodes = try XCTUnwrap(graph["nodes"] as? [[String: Any]])
        XCTAssertEqual(Set(nodes.compactMap { $0["progress"] as? Double }), [0.5])
        XCTAssertEqual(nodes.count, 2)
        finish(resolver, vow_int(1))
        vow_promise_release(next)
        XCTAssertEqual(vow_trace_stop(), 0)
        XCTAssertEqual(vow_graph_write(1, VOW_GRAPH_DOT), VOW_EINVAL)
    }
}
