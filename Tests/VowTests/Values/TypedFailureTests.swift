// Tests that a failure of a type of its own comes back as what it was.

import Vow
import XCTest

private enum Plain: PromiseFailure, Equatable {
    case first, second(String)
    case library

    init(promiseError _: any Error) { self = .library }
}

private enum Taking: PromiseFailure, Equatable {
    case own
    case library(String)
    init(promiseError error: any Error) { self = .library("\(error)") }
}

final class TypedFailureTests: VowTest {
    func testAFailureOfEachTypeComesBackAsItWas() {
        XCTAssertEqual(Promise<Int, Plain>.failure(.second("x")).error, .second("x"))
        XCTAssertEqual(Promise<Int, Taking>.failure(.own).error, .own)
        XCTAssertEqual(Promise<Int, any Error>.failure(Plain.first).error as? Plain, .first)
    }

    func testWhatATypedClosureThrowsComesToTypedHandlers() throws {
        let failed = Promise<Int, Plain>.value(1).map { _ throws(Plain) -> Int in throw .first }
        let caught = failed.recover { (failure: Plain) throws(Never) in failure == .first ? 7 : 0 }
        XCTAssertEqual(try caught.wait(), 7)
    }

    func testAFailureRethrownManyTimesIsTheSame() {
        var promise = Promise<Int, any Error>.failure(Plain.first)
        for _ in 0..<1000 { promise = promise.recover(on: .inline) { throw $0 } }
        XCTAssertEqual(failure(of: promise) as? Plain, .first)
    }

    func testWhatTheLibraryRejectsWithIsConverted() {
        let (promise, resolver) = Promise<Int, Taking>.pending()
        _ = consume resolver
        XCTAssertEqual(promise.error, .library("\(PromiseError.broken)"))
    }
}
