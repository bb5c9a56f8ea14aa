// Tests Promise+Using.swift, shielded and pendingCooperative.

import Vow
import XCTest

final class UsingTests: VowTest {
    private struct Trouble: Error {}

    func testTheOutcomeIsTheUsesAndComesAfterTheRelease() throws {
        let calls = Journal<String>()
        let length = Promise<String, any Error>.value("abc").using { text in
            calls.write("use \(text)")
            return text.count
        } release: { text in
            calls.write("release \(text)")
        }
        XCTAssertEqual(try length.wait(), 3)
        XCTAssertEqual(calls.entries, ["use abc", "release abc"])
    }

    func testAUseThatFailsIsReleased() {
        let calls = Journal<String>()
        let failing = Promise<Int, any Error>.value(1).using { _ -> Promise<Int, any Error> in
            throw Trouble()
        } release: { _ in
            calls.write("release")
        }
        XCTAssertThrowsError(try failing.wait()) { XCTAssertTrue($0 is Trouble) }
        XCTAssertEqual(calls.entries, ["release"])
    }

    func testTheReleaseIsToldHowTheUseEnded() throws {
        func told(_ result: Result<Int, any Error>, cancels: Bool = false) throws -> String {
            let calls = Journal<String>()
            let (resource, resolver) = Promise<Int, any Error>.pending()
            let promise = resource.using(on: .inline) { _ in
                try result.get()
            } release: { _ in
                Promise<Int, any Error>.value(1).done(on: .inline) { _ in
                    if EndOfUse.current != nil { calls.write("a handler, too") }
                }
                switch EndOfUse.current {
                case .unused: calls.write("unused")
                case .fulfilled: calls.write("fulfilled")
                case .failed(let error): calls.write("failed: \(error)")
                case nil: calls.write("nothing")
                }
            }
            if cancels { promise.cancel() }
            resolver.fulfill(1)
            _ = try? promise.wait()
            return calls.entries.joined(separator: ", ")
        }
        XCTAssertNil(EndOfUse.current)
        XCTAssertEqual(try told(.success(1)), "fulfilled")
        XCTAssertEqual(try told(.failure(Trouble())), "failed: Trouble()")
        XCTAssertEqual(try told(.success(1), cancels: true), "unused")
    }

    func testAReleaseIsWaitedForAndNotCancelled() throws {
        let (releasing, resolver) = Promise<Void, any Error>.pending()
        let (answer, kept) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("release is cancelled") }
        kept.onCancel { calls.write("use is cancelled") }
        let promise = Promise<Int, any Error>.value(1).using(on: .inline) { _ in
            answer
        } release: { _ in
            calls.write("release")
            return releasing
        }
        XCTAssertTrue(promise.cancel())
        // Somebody else holds what the use has returned.
        XCTAssertEqual(calls.entries, [])
        XCTAssertTrue(kept.fulfill(1))
        withExtendedLifetime(answer) {}
        XCTAssertEqual(calls.entries.last, "release")
        XCTAssertTrue(promise.isPending)
        resolver.fulfill()
        XCTAssertThrowsError(try promise.wait()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertFalse(calls.entries.contains("release is cancelled"))
    }

    func testAResourceThatComesTooLateIsReleasedUnused() {
        let (resource, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        let promise = resource.using(on: .inline) { _ in
            calls.write("use")
        } release: {
            calls.write("release \($0)")
        }
        promise.cancel()
        XCTAssertTrue(resolver.fulfill(7))
        XCTAssertThrowsError(try promise.wait()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(calls.entries, ["release 7"])
        withExtendedLifetime(resource) {}
    }

    func testAShieldedPromiseIsWaitedForAndNotCancelled() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("cancelled") }
        let shielded = promise.shielded()
        XCTAssertTrue(shielded.cancel())
        XCTAssertTrue(shielded.isPending)
        XCTAssertTrue(resolver.fulfill(1))
        XCTAssertThrowsError(try shielded.wait()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(try promise.wait(), 1)
        XCTAssertEqual(calls.entries, [])
    }

    func testACooperativeProducerEndsItsWorkFirst() {
        let (promise, resolver) = Promise<Int, any Error>.pendingCooperative()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("told") }
        XCTAssertTrue(promise.cancel())
        XCTAssertEqual(calls.entries, ["told"])
        XCTAssertTrue(promise.isPending)
        XCTAssertFalse(resolver.fulfill(1))
        XCTAssertThrowsError(try promise.wait()) { XCTAssertTrue($0 is CancellationError) }
    }

    func testAHandlerCanAskWhetherItIsWanted() {
        let kept = Journal<Promise<Void, any Error>>()
        let answers = Journal<Bool>()
        let (start, resolver) = Promise<Void, any Error>.pending()
        let promise = start.map(on: .inline) {
            answers.write(PromiseRuntime.isHandlerCancelled)
            kept.entries.first?.cancel()
            answers.write(PromiseRuntime.isHandlerCancelled)
        }
        kept.write(promise)
        resolver.fulfill()
        XCTAssertThrowsError(try promise.wait()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(answers.entries, [false, true])
        XCTAssertFalse(PromiseRuntime.isHandlerCancelled)
    }
}
