// Tests PromiseRuntime+Trace.swift and Promise+Label.swift.

import Foundation
import Vow
import XCTest

final class TracingTests: VowTest {
    /// A place for a file, which is removed after the test.
    private func temporaryFile() -> String {
        let path = NSTemporaryDirectory() + "vow-trace-\(UUID().uuidString).json"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    override func tearDown() {
        PromiseRuntime.stopTrace()
        super.tearDown()
    }

    private func message(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return "\(error)" }
        return nil
    }

    func testItIsOnBetweenStartAndStop() throws {
        XCTAssertFalse(PromiseRuntime.isTracing)
        XCTAssertFalse(PromiseRuntime.stopTrace())
        try PromiseRuntime.startTrace()
        XCTAssertTrue(PromiseRuntime.isTracing)
        XCTAssertTrue(PromiseRuntime.stopTrace())
        XCTAssertFalse(PromiseRuntime.isTracing)
    }

    func testAHistoryNamesPromisesByTheirLabels() throws {
        let path = temporaryFile()
        try PromiseRuntime.startTrace(to: path)
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.labelled("the answer")
        resolver.setProgress(0.5, note: "half")
        let derived = promise.map(on: .inline) { $0 + 1 }.labelled("one more")
        resolver.fulfill(41)
        XCTAssertEqual(try derived.wait(), 42)
        XCTAssertTrue(PromiseRuntime.stopTrace())

        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let trace = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let events = try XCTUnwrap(trace["traceEvents"] as? [[String: Any]])
        let lives = events.filter { $0["cat"] as? String == "promise" }
            .filter { $0["ph"] as? String == "b" }
        XCTAssertEqual(
            Set(lives.compactMap { $0["name"] as? String }), ["the answer", "one more"])
        let runs = events.filter { $0["cat"] as? String == "handler" }
        XCTAssertEqual(runs.compactMap { $0["name"] as? String }, ["one more"])
        let progress = events.filter { $0["name"] as? String == "progress" }
        XCTAssertEqual(progress.count, 1)
    }

    func testASiteIsTheFunctionOfTheProgramThatMadeThePromise() throws {
        let path = temporaryFile()
        try PromiseRuntime.startTrace(to: path)
        _ = try askForAPage().wait()
        try Promise<Void, any Error>.value.askInAnExtension().wait()
        PromiseRuntime.stopTrace()

        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let trace = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let events = try XCTUnwrap(trace["traceEvents"] as? [[String: Any]])
        func site(of kind: String) -> String? {
            let lives = events.lazy.compactMap { $0["args"] as? [String: Any] }
            return lives.first { $0["kind"] as? String == kind }?["site"] as? String
        }
        let all = try XCTUnwrap(site(of: "all"))
        XCTAssertTrue(all.contains("(VowTests.TracingTests.askForAPage+0x"), all)
        let value = try XCTUnwrap(site(of: "value"))
        XCTAssertTrue(value.contains("(closure in VowTests.TracingTests.askForAPage+0x"), value)
        let delay = try XCTUnwrap(site(of: "delay"))
        XCTAssertTrue(delay.contains("(Vow.Promise.askInAnExtension+0x"), delay)
    }

    private func askForAPage() -> Promise<[Int], any Error> {
        Promise.all((1...3).map { .value($0) })
    }

    func testTheGraphShowsWhatWaitsForWhat() throws {
        try PromiseRuntime.startTrace()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.labelled("a page")
        let title = promise.map { $0 }.labelled("its title")
        let dot = try PromiseRuntime.graph()
        XCTAssertTrue(dot.hasPrefix("digraph"), dot)
        XCTAssertTrue(dot.contains("a page") && dot.contains("its title"), dot)
        let json = try PromiseRuntime.graph(as: .json)
        let graph = try JSONSerialization.jsonObject(with: Data(json.utf8))
        XCTAssertNotNil(graph as? [String: Any])
        XCTAssertTrue(json.contains("a page") && json.contains("its title"), json)
        resolver.fulfill(1)
        XCTAssertEqual(try title.wait(), 1)
        XCTAssertFalse(try PromiseRuntime.graph().contains("a page"))
    }

    func testTheGraphIsWrittenToADescriptor() throws {
        try PromiseRuntime.startTrace()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.labelled("a page")
        let pipe = Pipe()
        let writing = pipe.fileHandleForWriting
        try PromiseRuntime.writeGraph(to: writing.fileDescriptor, as: .dot)
        try writing.close()
        let written = try pipe.fileHandleForReading.readToEnd() ?? Data()
        let text = String(decoding: written, as: UTF8.self)
        XCTAssertTrue(text.hasPrefix("digraph") && text.contains("a page"), text)
        resolver.fulfill(1)
    }

    func testALabelIsNotEvenMadeWhileTracingIsOff() throws {
        let promise = Promise<Int, any Error>.value(1)
        func label() -> String {
            XCTFail("nobody traces")
            return ""
        }
        XCTAssertEqual(promise.labelled(label()), promise)
        try PromiseRuntime.startTrace()
        let long = Promise<Int, any Error>.pending()
        long.promise.labelled(String(repeating: "é", count: 200))
        let graph = try PromiseRuntime.graph()
        XCTAssertTrue(graph.contains(String(repeating: "é", count: 127)))
        XCTAssertFalse(graph.contains(String(repeating: "é", count: 128)))
        long.resolver.fulfill(1)
    }

    func testWhatCannotBeIsSaidClearly() throws {
        XCTAssertEqual(
            message { _ = try PromiseRuntime.graph() }, "graph: tracing is off")
        XCTAssertEqual(
            message { try PromiseRuntime.writeGraph(to: 1) }, "writeGraph: tracing is off")
        XCTAssertEqual(
            message { try PromiseRuntime.startTrace(to: "/no/such/folder/trace.json") },
            "startTrace: /no/such/folder/trace.json: No such file or directory")
        XCTAssertFalse(PromiseRuntime.isTracing)
        try PromiseRuntime.startTrace()
        XCTAssertEqual(
            message { try PromiseRuntime.startTrace() }, "startTrace: tracing is on already")
        XCTAssertEqual(
            message { try PromiseRuntime.writeGraph(to: -1) },
            "writeGraph: file descriptor -1: Bad file descriptor")
        XCTAssertTrue(PromiseRuntime.stopTrace())
    }
}

extension Promise where Success == Void, Failure == any Error {
    fileprivate func askInAnExtension() -> Promise { Promise.delay(.zero) }
}
