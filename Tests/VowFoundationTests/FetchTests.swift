// Tests of fetches: bodies, and why there is none.

import Foundation
import Vow
import VowFoundation
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Person: Codable, Sendable, Equatable {
    let name: String
    let age: Int
}

private struct Place: Decodable, Sendable { let latitude: Double }

final class FetchTests: NetworkTest {
    /// What it was rejected with. A typed failure is looked at without a cast.
    private func error<Success>(
        of promise: Promise<Success, FetchError>, file: StaticString = #filePath, line: UInt = #line
    ) -> FetchError? {
        eventually("the fetch ends", file: file, line: line) { !promise.isPending }
        return promise.error
    }

    func testAFetchGivesTheBody() throws {
        let data = try Fetch.request(request("/text"), session: session).wait(timeout: patience)
        XCTAssertEqual(data, Data("hello".utf8))
        let text = server.url("/text")
        XCTAssertEqual(try Fetch.url(text, session: session).wait(timeout: patience).count, 5)
        let link = text.absoluteString
        XCTAssertEqual(try Fetch.url(link, session: session).wait(timeout: patience).count, 5)
    }

    func testStatusesFrom400OnFailAnd400ItselfDoes() {
        for status in [400, 401, 404, 500, 503] {
            let fetch = Fetch.request(request("/status/\(status)"), session: session)
            guard case .httpError(status) = error(of: fetch) else {
                return XCTFail("\(status): \(String(describing: fetch.error))")
            }
        }
    }

    func testStatusesBelow400Pass() throws {
        for status in [200, 201, 299, 304, 399] {
            let data = try Fetch.request(request("/status/\(status)"), session: session)
                .recover { (error: FetchError) throws(FetchError) in
                    // A 304 has no body, whatever follows its head.
                    guard status == 304, case .noData = error else { throw error }
                    return Data("304".utf8)
                }
                .wait(timeout: patience)
            XCTAssertEqual(data.count, 3, "\(status)")
        }
    }

    func testAnEmptyBodyIsNoDataUnlessHTTPSaysSo() throws {
        guard case .noData = error(of: Fetch.request(request("/empty"), session: session)) else {
            return XCTFail("an empty body passed")
        }
        let nothing = Fetch.request(request("/nothing"), session: session)
        XCTAssertEqual(try nothing.wait(timeout: patience), Data())
        let head = Fetch.request(request("/head", method: "HEAD"), session: session)
        XCTAssertEqual(try head.wait(timeout: patience), Data())
    }

    func testAnAnswerThatIsNoneOfHTTPFails() throws {
        let link = try XCTUnwrap(URL(string: "data:text/plain,hello"))
        guard case .notHTTP = error(of: Fetch.url(link, session: session)) else {
            return XCTFail("an answer without a status passed")
        }
    }

    func testABrokenConnectionIsAConnectionError() {
        let fetch = Fetch.request(request("/reset"), session: session)
        guard case .connectionError(let reason) = error(of: fetch) else {
            return XCTFail("\(String(describing: fetch.error))")
        }
        XCTAssertTrue(reason is URLError)
    }

    func testATextThatIsNoURLIsAnInvalidLink() {
        for text in ["", "no scheme", "/path/only", "http://[bad"] {
            guard case .invalidLink(text) = Fetch.url(text, session: session).error,
                case .invalidLink(text) = Fetch.json(text, as: Person.self, session: session).error
            else { return XCTFail("\(text) passed") }
        }
    }

    func testJSONIsDecoded() throws {
        let ada = Person(name: "ada", age: 36)
        let link = server.url("/json")
        let promises: [Promise<Person, FetchError>] = [
            Fetch.json(request("/json"), session: session), Fetch.json(link, session: session),
            Fetch.json(link.absoluteString, session: session),
        ]
        for promise in promises { XCTAssertEqual(try promise.wait(timeout: patience), ada) }
    }

    func testABodyThatIsSomethingElseIsAParseError() {
        let text = Fetch.json(server.url("/text"), as: Person.self, session: session)
        let other = Fetch.json(server.url("/json"), as: Place.self, session: session)
        guard case .parseError(let first) = error(of: text),
            case .parseError(let second) = error(of: other)
        else { return XCTFail("\(text) \(other)") }
        XCTAssertTrue(first is DecodingError)
        XCTAssertTrue(second is DecodingError)
    }

    func testNoBodyIsNoJSON() {
        let promise = Fetch.json(server.url("/nothing"), as: Person.self, session: session)
        guard case .noData = error(of: promise) else { return XCTFail("\(promise)") }
    }

    func testCancellingAFetchIsItsOwnFailureAndClosesTheConnection() {
        let promise = Fetch.json(server.url("/hang"), as: Person.self, session: session)
        eventually("the server has the request") { server.requests(for: "/hang") == 1 }
        XCTAssertTrue(promise.cancel())
        guard case .cancelled = promise.error else { return XCTFail("\(promise)") }
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testDiscardingAFetchCancelsItsRequest() {
        do {
            let promise = Fetch.request(request("/hang"), session: session)
            eventually("the server has the request") { server.requests(for: "/hang") == 1 }
            XCTAssertTrue(promise.isPending)
        }
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testATokenCancelsAFetch() {
        let source = CancellationSource()
        let promise = Fetch.request(
            request("/hang"), session: session, cancelledBy: source.token)
        eventually("the server has the request") { server.requests(for: "/hang") == 1 }
        source.cancel()
        guard case .cancelled = error(of: promise) else { return XCTFail("\(promise)") }
        eventually("the server sees the connection close") { server.hangUps == 1 }
    }

    func testWhatTheLibraryRejectsWithHasAPlaceInTheType() {
        let (promise, resolver) = Promise<Data, FetchError>.pending()
        _ = consume resolver
        guard case .other(PromiseError.broken) = error(of: promise) else {
            return XCTFail("\(promise)")
        }
        guard case .cancelled = FetchError(promiseError: CancellationError()),
            case .noData = FetchError(promiseError: FetchError.noData)
        else { return XCTFail("another case") }
    }
}
