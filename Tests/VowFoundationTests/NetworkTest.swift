// The base of the suites that use the network: a server and a session for each test.

import Foundation
import Vow
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

class NetworkTest: VowTest {
    private(set) var server: HTTPServer!
    private(set) var session: URLSession!

    override func setUp() {
        super.setUp()
        server = HTTPServer()
        session = URLSession(configuration: .ephemeral)
    }

    override func tearDown() {
        session.finishTasksAndInvalidate()
        session = nil
        server.stop()
        super.tearDown()
    }

    func request(_ path: String, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = method
        return request
    }

    /// A place for a file, which is removed after the test.
    func temporaryFile() -> URL {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("vow-test-\(UUID().uuidString)")
        addTeardownBlock { try? FileManager.default.removeItem(at: file) }
        return file
    }
}

/// Ten seconds: more than any of these tests takes.
let patience = Duration.seconds(60)
