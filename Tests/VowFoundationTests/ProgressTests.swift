// Tests that transfers tell how far they have come.

import Foundation
import Vow
import VowFoundation
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class ProgressTests: NetworkTest {
    private let journal = Journal<TransferProgress>()
    private let whole = TransferProgress(completed: Int64(largeSize), total: Int64(largeSize))

    private var write: ProgressHandler { { [journal] in journal.write($0) } }

    /// All that was told so far, of a body of which everybody knows the size.
    private func assertItGrewToTheTotal(file: StaticString = #filePath, line: UInt = #line) {
        let told = journal.entries
        XCTAssertEqual(told.last, whole, file: file, line: line)
        XCTAssertGreaterThan(told.count, 1, file: file, line: line)
        for (before, after) in zip(told, told.dropFirst()) {
            XCTAssertLessThan(before.completed, after.completed, file: file, line: line)
        }
        XCTAssertEqual(Set(told.map(\.total)), [Int64(largeSize)], file: file, line: line)
    }

    func testABodyThatComesGrowsToItsTotal() throws {
        let (data, response) = try session.promise(for: server.url("/sized"), onProgress: write)
            .wait(timeout: patience)
        assertItGrewToTheTotal()
        XCTAssertEqual(data, Data(largeBody))
        XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, 200)
    }

    func testABodyThatGoesGrowsToItsTotal() throws {
        let (data, _) = try session.uploadPromise(
            for: request("/echo", method: "POST"), from: Data(largeBody), onProgress: write
        ).wait(timeout: patience)
        assertItGrewToTheTotal()
        XCTAssertEqual(data, Data(largeBody))
    }

    func testADownloadGrowsToItsTotal() throws {
        let place = temporaryFile()
        try session.downloadPromise(for: server.url("/sized"), to: place, onProgress: write)
            .wait(timeout: patience)
        assertItGrewToTheTotal()
    }

    func testWithoutAnAnnouncedSizeOnlyTheEndKnowsTheTotal() throws {
        try session.promise(for: server.url("/chunked"), onProgress: write).wait(timeout: patience)
        let told = journal.entries
        XCTAssertEqual(told.last, whole)
        XCTAssertEqual(told.last?.fraction, 1)
        XCTAssertGreaterThan(told.count, 1)
        XCTAssertTrue(told.dropLast().allSatisfy { $0.total == nil && $0.fraction == nil })
    }

    func testTheLastCallComesBeforeThePromiseIsFulfilled() throws {
        let order = Journal<String>()
        let promise = session.promise(for: server.url("/text")) { order.write("\($0)") }
        promise.onSuccess(on: .inline) { _ in order.write("fulfilled") }
        try promise.wait(timeout: patience)
        eventually("the handler has run") { order.entries.count == 2 }
        XCTAssertEqual(order.entries, ["5 of 5 bytes", "fulfilled"])
    }

    func testAnEmptyBodyIsWhole() throws {
        try session.promise(for: server.url("/empty"), onProgress: write).wait(timeout: patience)
        XCTAssertEqual(journal.entries, [TransferProgress(completed: 0, total: 0)])
        XCTAssertEqual(journal.entries.first?.fraction, 1)
    }

    func testRedirectsAndFailuresAreAsWithoutProgress() throws {
        let (data, _) = try session.promise(for: server.url("/redirect"), onProgress: write)
            .wait(timeout: patience)
        XCTAssertEqual(String(decoding: data, as: UTF8.self), "hello")
        let broken = session.promise(for: server.url("/reset"), onProgress: write)
        XCTAssertTrue(failure(of: broken) is URLError)
        XCTAssertEqual(journal.entries.filter { $0.fraction == 1 }.count, 1)
    }

    func testCancellingATransferWithProgressClosesTheConnection() {
        let promise = session.promise(for: server.url("/hang-in-body"), onProgress: write)
        eventually("the beginning has come") { !journal.entries.isEmpty }
        XCTAssertEqual(journal.entries, [TransferProgress(completed: 13, total: 1000)])
        XCTAssertTrue(promise.cancel())
        eventually("the server sees the connection close") { server.hangUps == 1 }
        XCTAssertEqual(journal.entries.count, 1)
    }

    func testThePromiseOfATransferHasProgressToo() throws {
        let isListening = DispatchSemaphore(value: 0)
        let notes = Journal<String>()
        let promise = session.promise(for: server.url("/hang-in-body")) { _ in isListening.wait() }
        promise.onProgress(on: .inline) { notes.write("\($0): \($1 ?? "")") }
        isListening.signal()
        eventually("the beginning has come") { !notes.entries.isEmpty }
        XCTAssertEqual(notes.entries, ["0.013: 13 of 1000 bytes"])
        promise.cancel()
    }

    func testTheHandlerIsLetGoOfWithTheTransfer() throws {
        for path in ["/sized", "/reset"] {
            do {
                let tracker = Tracker()
                let promise = session.promise(for: server.url(path)) { _ in _ = tracker }
                _ = try? promise.wait(timeout: patience)
            }
            eventually("nothing keeps the handler") { Tracker.living == 0 }
        }
    }

    func testTheSessionMayBeInvalidatedOnceTheTransferHasBegun() throws {
        let promises = [
            session.promise(for: server.url("/slow")),
            session.promise(for: server.url("/slow"), onProgress: write),
        ]
        session.finishTasksAndInvalidate()
        for promise in promises {
            let (data, _) = try promise.wait(timeout: patience)
            XCTAssertEqual(data.count, 30)
        }
    }
}
