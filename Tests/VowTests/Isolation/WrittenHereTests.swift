// Tests of handlers that run where they were written, as the compiler knows.

import Dispatch
import Vow
import XCTest

private struct Refused: Error {}

/// Main-actor state that handlers change without a word about where they run.
@MainActor private final class Screen {
    var title = ""
    var lines: [String] = []
    /// Not Sendable: the main actor's alone.
    let notes = Notes()
    var count: Int { notes.count }

    final class Notes {
        var count = 0
    }

    func show(_ title: String) { self.title = title }

    func write(_ line: String) {
        XCTAssertTrue(Thread.isMainThread)
        lines.append(line)
    }

    func follow(_ promise: Promise<String, any Error>) -> Promise<Void, Never> {
        promise
            .get { self.write("get \($0)") }
            .tap { _ in self.write("tap") }
            .map { text in
                self.write("map")
                return text + "!"
            }
            .then { text in
                self.write("then")
                return Promise<String, Never>.value(text)
            }
            .onSuccess { self.write("onSuccess \($0)") }
            .onComplete { _ in self.write("onComplete") }
            .finally { self.notes.count += 1 }
            .done { self.title = $0 }
            .catch { _ in self.write("catch") }
    }

    func followAFailure(_ promise: Promise<String, any Error>) -> Promise<Void, Never> {
        promise
            .onFailure { _ in self.write("onFailure") }
            .recover(from: CancellationError.self) { _ in
                self.write("never")
                return ""
            }
            .transform { (result: Result<String, any Error>) throws -> String in
                self.write("transform")
                return try result.get()
            }
            .recover { error in
                self.write("recover")
                throw error
            }
            .catch { _ in self.write("catch") }
    }

    func byReference(_ promise: Promise<String, any Error>) -> Promise<Void, any Error> {
        promise.done(self.show)
    }

    func elsewhere(_ promise: Promise<String, any Error>) -> Promise<Bool, any Error> {
        promise.map(on: .pool) { _ in Thread.isMainThread }
    }
}

private actor Ledger {
    private(set) var lines: [Int] = []

    func write(_ line: Int) -> Int {
        lines.append(line)
        return line
    }

    func follow(_ promise: Promise<Int, any Error>) -> Promise<Int, any Error> {
        promise.map { self.write($0) + self.lines.count }
    }
}

@globalActor private actor Library {
    static let shared = Library()
}

@Library private var books = 0

private func follow(
    _ promise: Promise<Int, any Error>, in ledger: isolated Ledger
) -> Promise<Int, any Error> {
    promise.map { ledger.write($0) }
}

final class WrittenHereTests: VowTest {
    func testHandlersOfTheMainActorsClassesRunThere() async {
        let screen = await Screen()
        let (promise, resolver) = Promise<String, any Error>.pending()
        let end = await screen.follow(promise)
        await Task.detached { _ = resolver.fulfill("hello") }.value
        await end.value
        let (title, lines, count) = await (screen.title, screen.lines, screen.count)
        XCTAssertEqual(title, "hello!")
        XCTAssertEqual(
            lines.sorted(), ["get hello", "map", "onComplete", "onSuccess hello!", "tap", "then"])
        XCTAssertEqual(count, 1)
    }

    func testHandlersOfFailuresRunThereToo() async {
        let screen = await Screen()
        await screen.followAFailure(.failure(Refused())).value
        let lines = await screen.lines
        XCTAssertEqual(lines.sorted(), ["catch", "onFailure", "recover", "transform"])
    }

    func testAMethodOfTheMainActorsIsAHandlerAsItStands() async throws {
        let screen = await Screen()
        try await screen.byReference(.value("shown")).value
        let title = await screen.title
        XCTAssertEqual(title, "shown")
    }

    func testFromAnywhereAHandlerMayBeTheMainActors() async throws {
        let screen = await Screen()
        let promise = Promise<String, any Error>.value("from afar")
        let here = promise.done { @MainActor in screen.title = $0 }
        try await here.value
        var title = await screen.title
        XCTAssertEqual(title, "from afar")
        try await promise.map { $0 + "!" }.done { @MainActor in screen.title = $0 }.value
        title = await screen.title
        XCTAssertEqual(title, "from afar!")
        let end = Promise<Int, any Error>.failure(Refused())
            .catch { @MainActor in screen.title = "\($0)" }
            .finally { @MainActor in screen.notes.count += 1 }
        await end.value
        let count = await screen.count
        XCTAssertEqual(count, 1)
    }

    func testWithAnotherExecutorAHandlerLeavesTheMainActor() async throws {
        let isMain = try await Screen().elsewhere(.value("")).value
        XCTAssertFalse(isMain)
    }

    func testHandlersOfAnActorRunInIt() async throws {
        let ledger = Ledger()
        let sum = try await ledger.follow(.value(4)).value
        XCTAssertEqual(sum, 5)
        let same = try await follow(.value(7), in: ledger).value
        XCTAssertEqual(same, 7)
        let lines = await ledger.lines
        XCTAssertEqual(lines, [4, 7])
    }

    func testAnAsynchronousHandlerAwaitsAnActor() async throws {
        let ledger = Ledger()
        let end = Promise<Int, any Error>.value(4)
            .map { await ledger.write($0) }
            .done { _ = await ledger.write($0 + 1) }
            .catch { _ in _ = await ledger.write(-1) }
        await end.value
        let lines = await ledger.lines
        XCTAssertEqual(lines, [4, 5])
    }

    func testHandlersOfAGlobalActorRunThere() async throws {
        let link = Promise<Int, any Error>.value(4).map { @Library number in
            books += number
            Library.shared.preconditionIsolated()
            return books
        }
        let number = try await link.value
        XCTAssertEqual(number, 4)
    }

    func testTypedFailuresAndGuaranteesKeepTheirTypes() async {
        enum LoginError: PromiseFailure {
            case refused, lost

            init(promiseError _: any Error) { self = .lost }
        }
        let screen = await Screen()
        let typed: Promise<Int, LoginError> = await MainActor.run {
            Promise<Int, LoginError>.value(1).map { number throws(LoginError) in
                screen.title = "\(number)"
                if number > 0 { throw .refused }
                return number
            }
        }
        guard case .failure(.refused) = await typed.settled else { return XCTFail("it passed") }
        let sure: Guarantee<Int> = await MainActor.run {
            Guarantee.value(1).map { number in
                screen.title += "\(number)"
                return number + 1
            }
        }
        let (value, title) = await (sure.value, screen.title)
        XCTAssertEqual(value, 2)
        XCTAssertEqual(title, "11")
    }

    func testATokenCancelsThemAsOthers() async {
        let screen = await Screen()
        let source = CancellationSource()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let end = await MainActor.run {
            promise.done(cancelledBy: source.token) { _ in screen.title = "ran" }
        }
        source.cancel()
        resolver.fulfill(1)
        guard case .failure(is CancellationError) = await end.settled else {
            return XCTFail("it was not cancelled")
        }
        let title = await screen.title
        XCTAssertEqual(title, "")
    }

    func testTheClosureIsFreedWithItsLink() async {
        let before = Tracker.living
        let tracker = Tracker()
        let end = await MainActor.run {
            Guarantee.value(1).done { [tracker] _ in withExtendedLifetime(tracker) {} }
        }
        await end.value
        _ = consume tracker
        eventually("the closure is freed") { Tracker.living == before }
    }
}
