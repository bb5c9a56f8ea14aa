// Tests that a request ends with the promise of its answer.

import Foundation
import Vow
import VowFoundation
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class RequestCancellationTests: NetworkTest {
    private func hanging(
        _ path: String = "/hang", cancelledBy token: CancellationToken? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        let before = server.requests(for: path)
        let promise = session.promise(for: server.url(path), cancelledBy: token)
        eventually("the server has the request") { server.requests(for: path) == before + 1 }
        return promise
    }

    func testFoundationsCancellationsAreSparedByPolicy() throws {
        let errors: [(any Error, isTold: Bool)] = [
            (URLError(.cancelled), false), (URLError(.userCancelledAuthentication), false),
            (URLError(.timedOut), true), (CocoaError(.userCancelled), false),
            (CocoaError(.fileNoSuchFile), true),
        ]
        for (error, isTold) in errors {
            let told = Journal<String>()
            try Promise<Int, any Error>.failure(error)
                .catch(policy: .allErrorsExceptCancellation) { told.write("\($0)") }.wait()
            XCTAssertEqual(told.entries.count, isTold ? 1 : 0, "\(error)")
        }
    }

    func testCancellingRejectsAtOnceAndClosesTheConnection() {
        for path in ["/hang", "/hang-in-body"] {
            let before = server.hangUps
            let promise = hanging(path)
            XCTAssertTrue(promise.cancel())
            XCTAssertTrue(promise.error is CancellationError)
            eventually("the server sees the connection close") { server.hangUps == before + 1 }
        }
    }

    func testCancellingALinkOfTheChainCancelsTheRequest() {
        let promise = hanging().map { data, _ in data.count }
        XCTAssertTrue(promise.cancel())
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testTheLastReaderGoingCancelsTheRequest() {
        do {
            let promise = hanging()
            let copy = promise
            XCTAssertTrue(copy.isPending)
        }
        eventually("the server sees the connection close") { server.hangUps == 1 }
        do {
            let source = CancellationSource()
            XCTAssertTrue(hanging(cancelledBy: source.token).isPending)
        }
        eventually("the server sees the connection close") { server.hangUps == 2 }
    }

    func testATokenForgetsRequestsThatAreThrough() throws {
        let source = CancellationSource()
        let before = Holdings()
        for _ in 0..<10 {
            try session.promise(for: server.url("/text"), cancelledBy: source.token)
                .wait(timeout: patience)
        }
        eventually("the token holds nothing") { Holdings() == before }
        XCTAssertTrue(source.cancel())
    }

    func testAHandlerKeepsARequestWhosePromiseNobodyHolds() {
        let journal = Journal<Int>()
        session.promise(for: server.url("/slow")).done { data, _ in journal.write(data.count) }
            .cauterize()
        eventually("the handler has run") { journal.entries == [30] }
    }

    func testATokenCancelsTheRequest() {
        let source = CancellationSource()
        let promise = hanging(cancelledBy: source.token)
        source.cancel()
        XCTAssertTrue(failure(of: promise) is CancellationError)
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testATokensHandlerCancelsATaskOfTheSession() {
        let source = CancellationSource()
        let promise = Promise<Data, any Error> { resolver in
            let task = session.dataTask(with: server.url("/hang")) { data, _, error in
                resolver.settle(data, error)
            }
            source.token.onCancel { task.cancel() }
            task.resume()
        }
        eventually("the server has the request") { server.requests(for: "/hang") == 1 }
        source.cancel()
        XCTAssertEqual((failure(of: promise) as? URLError)?.code, .cancelled)
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testATaskThatTheSessionCancelsIsACancellation() {
        let promise = hanging()
        session.getAllTasks { for task in $0 { task.cancel() } }
        XCTAssertTrue(failure(of: promise) is CancellationError)
    }

    func testCancellingAnUploadAndADownloadClosesTheirConnections() {
        let upload = session.uploadPromise(
            for: request("/hang", method: "POST"), from: Data("body".utf8))
        let file = temporaryFile()
        let download = session.downloadPromise(for: server.url("/hang-in-body"), to: file)
        eventually("the server has the requests") {
            server.requests(for: "/hang") == 1 && server.requests(for: "/hang-in-body") == 1
        }
        XCTAssertTrue(upload.cancel())
        XCTAssertTrue(download.cancel())
        eventually("the server sees the connections close") { server.hangUps == 2 }
        XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))
    }

    func testARequestCancelledAtOnceIsCancelled() {
        for _ in 0..<50 {
            let promise = session.promise(for: server.url("/hang"))
            promise.cancel()
            XCTAssertTrue(promise.error is CancellationError)
        }
        // Some may never have come to the server: none of them stays.
        eventually("the session is through with all of them") {
            let left = Journal<Int>()
            session.getAllTasks { left.write($0.count) }
            eventually("the session has answered") { !left.entries.isEmpty }
            return left.entries == [0]
        }
        eventually("no connection stays open") { server.openConnections == 0 }
    }

    func testCancellingAfterTheAnswerDoesNothing() throws {
        let promise = session.promise(for: server.url("/text"))
        try promise.wait(timeout: patience)
        XCTAssertFalse(promise.cancel())
        XCTAssertEqual(promise.state, .fulfilled)
    }

    func testAnswersAndCancellationsAtATimeDoNotMixUp() {
        let handlers: [ProgressHandler?] = [nil, { _ in }]
        let promises = (0..<200).map {
            session.promise(for: server.url("/text"), onProgress: handlers[$0 % 2])
        }
        // Each answer that comes cancels another request, whose own answer may be on its way.
        for (index, promise) in promises.enumerated() {
            let other = promises[(index + 5) % 200]
            promise.onComplete(on: .pool) { _ in other.cancel() }
        }
        for promise in promises {
            do {
                let (data, _) = try promise.wait(timeout: patience)
                XCTAssertEqual(data.count, 5)
            } catch { XCTAssertTrue(error is CancellationError, "\(error)") }
        }
    }
}
