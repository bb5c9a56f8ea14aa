// Tests VowLogging and VowInstrumentation.

import InMemoryLogging
import Instrumentation
import Logging
import Vow
import VowInstrumentation
import VowLogging
import XCTest

private enum UserKey: InstrumentationContextKey { typealias Value = String }

private func context(_ user: String) -> InstrumentationContext {
    var context = InstrumentationContext.topLevel
    context[UserKey.self] = user
    return context
}

private func step() -> Promise<Int, any Error> { Promise(on: .pool) { 1 } }

final class LoggingTests: XCTestCase {
    private func logger(
        _ provider: Logger.MetadataProvider = .promises
    ) -> (Logger, InMemoryLogHandler) {
        var handler = InMemoryLogHandler()
        handler.metadataProvider = provider
        return (Logger(label: "test") { [handler] _ in handler }, handler)
    }

    func testHandlersSayTheMetadataOfWhereTheyWereAttached() throws {
        let (logger, written) = logger()
        let end = withLogMetadata(["request": "7"]) {
            step().map(on: .serial()) { number in
                logger.info("first")
                return number
            }.done { _ in logger.info("second") }
        }
        logger.info("outside")
        try end.wait()
        let lines = written.entries.map { "\($0.message) \($0.metadata["request"] ?? "none")" }
        XCTAssertEqual(Set(lines), ["outside none", "first 7", "second 7"])
    }

    func testMetadataIsAddedInsideAndGoneBehind() throws {
        let (logger, written) = logger()
        withLogMetadata(["a": "1", "b": "1"]) {
            withLogMetadata(["b": "2"]) { logger.info("inner") }
            logger.info("outer")
        }
        let told = written.entries.map { "\($0.metadata["a"] ?? "")\($0.metadata["b"] ?? "")" }
        XCTAssertEqual(told, ["12", "11"])
        XCTAssertNil(InstrumentationContext.carried)
    }

    func testAProviderThatAsksTheTaskSeesTheHandlersContext() throws {
        let asksTheTask = Logger.MetadataProvider {
            InstrumentationContext.current?[UserKey.self].map { ["user": "\($0)"] } ?? [:]
        }
        let (logger, written) = logger(.carried(asksTheTask))
        try withCarriedContext(context("ali")) { step().done { _ in logger.info("here") } }.wait()
        XCTAssertEqual(written.entries.map { $0.metadata["user"] }, ["ali"])
    }

    func testATasksContextIsCarriedByItsHandlers() async throws {
        let user = try await InstrumentationContext.withValue(context("bo")) {
            try await withCarriedContext {
                step().map { _ in InstrumentationContext.carried?[UserKey.self] }
            }.value
        }
        XCTAssertEqual(user, "bo")
    }

    func testInAnAsynchronousHandlerItIsTheTasks() async throws {
        let user = withCarriedContext(context("cy")) {
            step().map { _ in
                await Task.yield()
                return InstrumentationContext.carried?[UserKey.self]
            }
        }
        let told = try await user.value
        XCTAssertEqual(told, "cy")
    }

    func testWhatTheBodyThrowsIsThrownAsItIs() {
        XCTAssertThrowsError(
            try withCarriedContext(context("di")) { () throws(TestError) in throw .one }
        ) { XCTAssertEqual($0 as? TestError, .one) }
        XCTAssertNil(InstrumentationContext.carried)
    }
}
