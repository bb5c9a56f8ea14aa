// Tests of downloads to files.

import Foundation
import Vow
import VowFoundation
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class DownloadTests: NetworkTest {
    /// Without progress and with it, which go different ways.
    private let handlers: [ProgressHandler?] = [nil, { _ in }]

    func testADownloadIsInItsPlaceWhenThePromiseIsFulfilled() throws {
        for handler in handlers {
            for path in ["/sized", "/chunked"] {
                let place = temporaryFile()
                let (file, response) = try session.downloadPromise(
                    for: server.url(path), to: place, onProgress: handler
                ).wait(timeout: patience)
                XCTAssertEqual(file, place)
                XCTAssertEqual(try Data(contentsOf: file), Data(largeBody))
                XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, 200)
            }
        }
    }

    func testAFileThatIsThereIsNotOverwritten() throws {
        for handler in handlers {
            let place = temporaryFile()
            try Data("precious".utf8).write(to: place)
            let download = session.downloadPromise(
                for: server.url("/sized"), to: place, onProgress: handler)
            XCTAssertEqual(
                (failure(of: download) as? CocoaError)?.code, .fileWriteFileExists)
            XCTAssertEqual(try Data(contentsOf: place), Data("precious".utf8))
        }
    }

    func testADownloadThatBreaksOffLeavesNothing() {
        for handler in handlers {
            let place = temporaryFile()
            let download = session.downloadPromise(
                for: server.url("/reset"), to: place, onProgress: handler)
            XCTAssertTrue(failure(of: download) is URLError)
            XCTAssertFalse(FileManager.default.fileExists(atPath: place.path))
        }
    }

    func testACancelledDownloadLeavesNothingAndClosesTheConnection() {
        for (index, handler) in handlers.enumerated() {
            let place = temporaryFile()
            let download = session.downloadPromise(
                for: server.url("/hang-in-body"), to: place, onProgress: handler)
            eventually("the server has the request") {
                server.requests(for: "/hang-in-body") == index + 1
            }
            XCTAssertTrue(download.cancel())
            eventually("the server sees the connection close") { server.hangUps == index + 1 }
            XCTAssertFalse(FileManager.default.fileExists(atPath: place.path))
        }
    }
}
