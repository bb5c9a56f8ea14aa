// Tests VowTracing.

import InMemoryTracing
import Tracing
import Vow
import VowTracing
import XCTest

private let tracer: InMemoryTracer = {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    return tracer
}()

final class TracingTests: XCTestCase {
    override func setUp() { tracer.clearAll(includingActive: true) }

    private func finished(_ name: String) -> FinishedInMemorySpan? {
        tracer.finishedSpans.first { $0.operationName == name }
    }

    func testASpanEndsWithItsPromise() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let traced = withPromiseSpan("load", ofKind: .client) { span in
            span.attributes["path"] = "/"
            return promise.map { $0 + 1 }
        }
        XCTAssertNil(finished("load"))
        XCTAssertEqual(tracer.activeSpans.count, 1)
        resolver.fulfill(1)
        XCTAssertEqual(try traced.wait(), 2)
        let span = try XCTUnwrap(finished("load"))
        XCTAssertEqual(span.kind, .client)
        XCTAssertEqual(span.attributes["path"]?.toSpanAttribute(), .string("/"))
        XCTAssertTrue(span.errors.isEmpty)
        XCTAssertNil(span.status)
    }

    func testSpansThatBeginInHandlersAreItsChildren() throws {
        let gate = Promise<Int, any Error>.pending()
        let traced = withPromiseSpan("load") { _ in
            gate.promise.map(on: .pool) { $0 }.then(on: .serial()) { number in
                withPromiseSpan("store") { _ in Promise<Int, any Error>(on: .pool) { number } }
            }
        }
        let beside = withPromiseSpan("beside") { _ in Guarantee.value(1) }
        gate.resolver.fulfill(1)
        _ = (try traced.wait(), try beside.wait())
        let (load, store) = (try XCTUnwrap(finished("load")), try XCTUnwrap(finished("store")))
        XCTAssertEqual(store.parentSpanID, load.spanID)
        XCTAssertEqual(store.traceID, load.traceID)
        XCTAssertNil(try XCTUnwrap(finished("beside")).parentSpanID)
    }

    func testASpanOfATaskIsTheParent() async throws {
        let number = try await withSpan("task") { _ in
            try await withPromiseSpan("promise") { _ in Promise<Int, any Error>(on: .pool) { 1 } }
                .value
        }
        XCTAssertEqual(number, 1)
        XCTAssertEqual(finished("promise")?.parentSpanID, finished("task")?.spanID)
        XCTAssertNotNil(finished("promise")?.parentSpanID)
    }

    func testAFailureIsRecordedAndIsTheStatus() throws {
        let failed: Promise<Int, TestError> = withPromiseSpan("failing") { _ in .failure(.one) }
        XCTAssertThrowsError(try failed.wait())
        let span = try XCTUnwrap(finished("failing"))
        XCTAssertEqual(span.errors.map { $0.error as? TestError }, [.one])
        XCTAssertEqual(span.status?.code, .error)
    }

    func testWhatTheBodyThrowsRejectsAndEndsTheSpan() throws {
        let thrown = withPromiseSpan("throwing") { _ -> Promise<Int, any Error> in
            throw TestError.one
        }
        XCTAssertThrowsError(try thrown.wait())
        XCTAssertEqual(finished("throwing")?.errors.count, 1)
    }

    func testACancellationIsRecordedAndNoFailure() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let traced = withPromiseSpan("cancelled") { _ in promise.map { $0 } }
        traced.cancel()
        XCTAssertThrowsError(try traced.wait()) { XCTAssertTrue($0 is CancellationError) }
        let span = try XCTUnwrap(finished("cancelled"))
        XCTAssertTrue(span.errors.first?.error is CancellationError)
        XCTAssertNil(span.status)
        resolver.fulfill(1)
    }
}
