// Tests Progress/: promises as objects that show progress, and the other way round.

import Foundation
import Vow
import VowFoundation
import XCTest

final class PromiseProgressTests: VowTest {
    func testTheObjectShowsFractionAndNote() throws {
        let loop = try PromiseLoop.virtual()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let progress = promise.asProgress(on: loop.executor)
        XCTAssertEqual(progress.fractionCompleted, 0)
        XCTAssertTrue(progress.isCancellable)
        resolver.setProgress(0.25, note: "page 1 of 4")
        XCTAssertEqual(progress.fractionCompleted, 0)
        try loop.advance(by: .zero)
        XCTAssertEqual(progress.fractionCompleted, 0.25)
        XCTAssertEqual(progress.localizedAdditionalDescription, "page 1 of 4")
        resolver.setProgress(0.125)
        try loop.advance(by: .zero)
        XCTAssertEqual(progress.fractionCompleted, 0.125)
        XCTAssertEqual(progress.localizedAdditionalDescription, "")
        resolver.fulfill(1)
        try loop.advance(by: .zero)
    }

    func testItIsFinishedWhenThePromiseIsSettledAndNotBefore() throws {
        let loop = try PromiseLoop.virtual()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let progress = promise.asProgress(on: loop.executor, totalUnitCount: 10)
        resolver.setProgress(1, note: "all but the last word")
        try loop.advance(by: .zero)
        XCTAssertFalse(progress.isFinished)
        XCTAssertEqual(progress.completedUnitCount, 9)
        resolver.fulfill(1)
        try loop.advance(by: .zero)
        XCTAssertTrue(progress.isFinished)
        XCTAssertEqual(progress.fractionCompleted, 1)
        XCTAssertFalse(progress.isCancelled)
    }

    func testAFailureFinishesItAndIsStillUnhandled() throws {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        let progress: Progress
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            progress = promise.asProgress(on: .inline)
            resolver.reject(TestError.one)
        }
        XCTAssertTrue(progress.isFinished)
        XCTAssertEqual(reports.entries, ["one"])
    }

    func testOfASettledPromiseItIsFinishedAtOnce() {
        XCTAssertTrue(Promise<Int, any Error>.value(1).asProgress(on: .main).isFinished)
        let failed = Promise<Int, any Error>.failure(TestError.one)
        XCTAssertTrue(failed.asProgress(on: .main).isFinished)
        _ = failed.error
    }

    func testSeveralAddUpInAParent() {
        let members = (0..<2).map { _ in Promise<Int, any Error>.pending() }
        let parent = Progress(totalUnitCount: 4)
        for (member, share) in zip(members, [1, 3] as [Int64]) {
            parent.addChild(member.promise.asProgress(on: .inline), withPendingUnitCount: share)
        }
        members[1].resolver.setProgress(0.5)
        XCTAssertEqual(parent.fractionCompleted, 0.375, accuracy: 0.001)
        members[0].resolver.fulfill(1)
        XCTAssertEqual(parent.fractionCompleted, 0.625, accuracy: 0.001)
        members[1].resolver.fulfill(1)
        XCTAssertTrue(parent.isFinished)
    }

    func testCancellingTheObjectCancelsThePromise() {
        let isStopped = Journal<Bool>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { isStopped.write(true) }
        let parent = Progress(totalUnitCount: 1)
        parent.addChild(promise.asProgress(on: .inline), withPendingUnitCount: 1)
        parent.cancel()
        eventually("the promise is cancelled") { promise.isCancelled }
        XCTAssertEqual(isStopped.entries, [true])
        eventually("it is finished") { parent.isFinished }
    }

    func testAPromiseThatCannotFailCannotBeCancelled() {
        let (promise, resolver) = Guarantee<Int>.pending(orElse: 0)
        let progress = promise.asProgress(on: .inline)
        XCTAssertFalse(progress.isCancellable)
        progress.cancel()
        promise.setProgress(0.5)
        XCTAssertEqual(progress.fractionCompleted, 0.5)
        resolver.fulfill(1)
        XCTAssertEqual(promise.result, .success(1))
    }

    func testThePromiseDoesNotKeepTheObjectNorTheObjectTheWork() {
        let isStopped = Journal<Bool>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { isStopped.write(true) }
        weak var kept: Progress?
        var reader: Promise<Int, any Error>? = consume promise
        do {
            let progress = reader?.asProgress(on: .inline)
            kept = progress
            reader = nil
            XCTAssertEqual(isStopped.entries, [])
            withExtendedLifetime(progress) {}
        }
        XCTAssertNil(kept)
        XCTAssertEqual(isStopped.entries, [true])
    }

    func testWhatIsReportedToAnObjectIsThePromisesProgress() {
        let told = Journal<Double>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.onProgress(on: .inline) { fraction, _ in told.write(fraction) }
        let progress = resolver.makeProgress(totalUnitCount: 4)
        progress.completedUnitCount = 1
        progress.completedUnitCount += 1
        progress.totalUnitCount = 8
        progress.totalUnitCount = -1
        XCTAssertEqual(told.entries, [0, 0.25, 0.5, 0.25])
        XCTAssertFalse(progress.isCancelled)
        promise.cancel()
        XCTAssertTrue(progress.isCancelled)
    }
}
