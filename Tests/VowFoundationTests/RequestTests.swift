// Tests of requests as promises.

import Foundation
import Vow
import VowFoundation
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private enum PageError: Error, Equatable {
    case status(Int), type(String?)
}

final class RequestTests: NetworkTest {
    func testARequestGivesBodyAndResponse() throws {
        let (data, response) = try session.promise(for: server.url("/text")).wait(timeout: patience)
        XCTAssertEqual(String(decoding: data, as: UTF8.self), "hello")
        XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, 200)
        XCTAssertEqual(response.mimeType, "text/plain")
    }

    func testAStatusOfFailureFulfilsAllTheSame() throws {
        for status in [400, 404, 500] {
            let (data, response) = try session.promise(for: request("/status/\(status)"))
                .wait(timeout: patience)
            XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, status)
            XCTAssertEqual(String(decoding: data, as: UTF8.self), "why")
        }
    }

    func testStatusAndTypeAreValidatedByThrowingInAMap() {
        func page(_ path: String) -> Promise<Data, any Error> {
            session.promise(for: server.url(path)).map { data, response in
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                if status >= 400 { throw PageError.status(status) }
                guard response.mimeType == "text/plain" else {
                    throw PageError.type(response.mimeType)
                }
                return data
            }
        }
        XCTAssertEqual(try page("/text").wait(timeout: patience).count, 5)
        XCTAssertEqual(failure(of: page("/status/404")) as? PageError, .status(404))
        XCTAssertEqual(failure(of: page("/json")) as? PageError, .type("application/json"))
    }

    func testRedirectsAreFollowed() throws {
        let (data, response) = try session.promise(for: server.url("/redirect"))
            .wait(timeout: patience)
        XCTAssertEqual(String(decoding: data, as: UTF8.self), "hello")
        XCTAssertEqual(response.url, server.url("/text"))
        XCTAssertEqual(server.requests(for: "/redirect"), 1)
    }

    func testALargeBodyInChunksComesWhole() throws {
        let (data, _) = try session.promise(for: server.url("/chunked")).wait(timeout: patience)
        XCTAssertEqual(data, Data(largeBody))
    }

    func testABodyThatComesByteByByteComesWhole() throws {
        let (data, _) = try session.promise(for: server.url("/slow")).wait(timeout: patience)
        XCTAssertEqual(String(decoding: data, as: UTF8.self), "a body that comes byte by byte")
    }

    func testAnAnswerThatBreaksOffRejectsWithTheSessionsError() {
        for path in ["/reset", "/short"] {
            let error = failure(of: session.promise(for: server.url(path)))
            XCTAssertTrue(error is URLError, "\(path): \(String(describing: error))")
        }
    }

    func testNobodyListeningRejectsWithTheSessionsError() {
        let (socket, port) = listenOnLoopback()
        closeSocket(socket)
        let error = failure(of: session.promise(for: URL(string: "http://127.0.0.1:\(port)/")!))
        XCTAssertEqual((error as? URLError)?.code, .cannotConnectToHost)
    }

    func testAnUploadComesBack() throws {
        let (data, _) = try session.uploadPromise(
            for: request("/echo", method: "POST"), from: Data(largeBody)
        ).wait(timeout: patience)
        XCTAssertEqual(data, Data(largeBody))
    }

    func testABodyInTheRequestIsPosted() throws {
        var post = request("/echo", method: "POST")
        post.httpBody = Data("posted".utf8)
        let (data, _) = try session.promise(for: post).wait(timeout: patience)
        XCTAssertEqual(String(decoding: data, as: UTF8.self), "posted")
    }

    func testACallbackOfTheSessionIsWrappedByAResolver() throws {
        let body = Promise<Data, any Error> { resolver in
            session.uploadTask(
                with: request("/echo", method: "POST"), from: Data("wrapped".utf8)
            ) { data, _, error in resolver.settle(data, error) }.resume()
        }
        XCTAssertEqual(try body.wait(timeout: patience), Data("wrapped".utf8))
    }

    func testAHundredRequestsAtATime() throws {
        let promises = (0..<100).map { number in
            session.uploadPromise(
                for: request("/echo", method: "POST"), from: Data("\(number)".utf8))
        }
        for (number, promise) in promises.enumerated() {
            let (data, _) = try promise.wait(timeout: patience)
            XCTAssertEqual(String(decoding: data, as: UTF8.self), "\(number)")
        }
        XCTAssertEqual(server.requests(for: "/echo"), 100)
    }
}
