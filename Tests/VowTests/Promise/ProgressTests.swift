// Tests Promise+Progress.swift.

import Vow
import XCTest

final class ProgressTests: VowTest {
    /// What a listener was told.
    private struct News: Equatable, Sendable {
        let fraction: Double
        let note: String?

        init(_ fraction: Double, _ note: String? = nil) {
            self.fraction = fraction
            self.note = note
        }
    }

    private let told = Journal<News>()
    private var write: @Sendable (Double, String?) -> Void {
        { [told] in told.write(News($0, $1)) }
    }

    func testAListenerIsToldOfFractionAndNote() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let same = promise.onProgress(on: .inline, write)
        XCTAssertEqual(same, promise)
        XCTAssertTrue(resolver.setProgress(0.25, note: "a quarter"))
        XCTAssertTrue(promise.setProgress(0.5))
        XCTAssertTrue(resolver.setProgress(7))
        XCTAssertTrue(resolver.setProgress(-1, note: "back again"))
        XCTAssertEqual(
            told.entries, [News(0.25, "a quarter"), News(0.5), News(1), News(0, "back again")])
        resolver.fulfill(1)
    }

    func testWhatIsNoNumberIsRefused() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.onProgress(on: .inline, write)
        XCTAssertFalse(resolver.setProgress(.nan, note: "0 of 0"))
        XCTAssertFalse(promise.setProgress(.nan))
        XCTAssertEqual(told.entries, [])
        resolver.fulfill(1)
    }

    func testNobodyIsToldOnceItIsSettled() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.onProgress(on: .inline, write)
        resolver.fulfill(1)
        XCTAssertTrue(resolver.setProgress(0.5))
        promise.onProgress(on: .inline, write)
        XCTAssertTrue(promise.setProgress(0.75))
        XCTAssertEqual(told.entries, [])
    }

    func testALongNoteEndsBetweenTwoCharacters() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.onProgress(on: .inline, write)
        resolver.setProgress(0.5, note: String(repeating: "é", count: 100))
        XCTAssertEqual(told.entries, [News(0.5, String(repeating: "é", count: 63))])
        resolver.fulfill(1)
    }

    func testAListenerIsToldOnItsExecutorOneCallAtATime() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let queue = DispatchQueue(label: "listener")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let places = Journal<Bool>()
        promise.onProgress(on: .queue(queue)) { [told] fraction, note in
            places.write(DispatchQueue.getSpecific(key: key) == true)
            told.write(News(fraction, note))
        }
        for step in 1...100 { resolver.setProgress(Double(step) / 100) }
        eventually("the last one has come") { told.entries.last == News(1) }
        XCTAssertTrue(places.entries.allSatisfy { $0 })
        XCTAssertEqual(told.entries.map(\.fraction), told.entries.map(\.fraction).sorted())
        resolver.fulfill(1)
        queue.sync {}
    }

    func testBetweenTwoCallsLiesTheIntervalAndTheNewestIsTold() throws {
        let loop = try PromiseLoop.virtual()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.onProgress(every: .milliseconds(100), on: loop.executor, write)
        func advance(_ milliseconds: Int) throws {
            try loop.advance(by: .milliseconds(milliseconds))
        }
        resolver.setProgress(0.1)
        try advance(0)
        resolver.setProgress(0.2)
        resolver.setProgress(0.3, note: "newest")
        try advance(99)
        XCTAssertEqual(told.entries, [News(0.1)])
        try advance(1)
        XCTAssertEqual(told.entries, [News(0.1), News(0.3, "newest")])
        resolver.setProgress(1)
        try advance(0)
        XCTAssertEqual(told.entries, [News(0.1), News(0.3, "newest"), News(1)])
        resolver.fulfill(1)
    }

    func testACancelledTokenEndsTheListening() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let source = CancellationSource()
        promise.onProgress(on: .inline, cancelledBy: source.token, write)
        resolver.setProgress(0.25)
        source.cancel()
        resolver.setProgress(0.5)
        XCTAssertEqual(told.entries, [News(0.25)])
        resolver.fulfill(1)
    }

    func testAListenerMayListenAndSettleAndSayMore() {
        let pair = Promise<Int, any Error>.pending()
        // Not captured: the listener would keep the promise that keeps it.
        let both = Guarded<
            (promise: Promise<Int, any Error>, resolver: PromiseResolver<Int, any Error>)?
        >(
            pair)
        pair.promise.onProgress(on: .inline) { [write] fraction, _ in
            guard let (promise, resolver) = both.withLock({ $0 }) else { return }
            if fraction == 0.25 {
                promise.onProgress(on: .inline, write)
                resolver.setProgress(0.5)
            } else {
                resolver.fulfill(3)
                resolver.setProgress(0.75)
            }
        }
        pair.resolver.setProgress(0.25)
        XCTAssertEqual(pair.promise.result.map { try? $0.get() }, 3)
        XCTAssertFalse(told.entries.contains(News(0.75)))
        both.withLock { $0 = nil }
    }

    func testListeningIsNoInterestInTheResult() {
        let isStopped = Journal<Bool>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { isStopped.write(true) }
        var reader: Promise<Int, any Error>? = consume promise
        reader?.onProgress(on: .inline, write)
        XCTAssertEqual(isStopped.entries, [])
        reader = nil
        XCTAssertEqual(isStopped.entries, [true])
    }

    func testListeningDoesNotHandleTheFailure() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            promise.onProgress(on: .inline, write)
            resolver.reject(TestError.one)
        }
        XCTAssertEqual(reports.entries, ["one"])
    }

    func testTheClosureIsLetGoOfWithThePromise() {
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            let tracker = Tracker()
            promise.onProgress(on: .pool) { _, _ in _ = tracker }
            for step in 1...100 { resolver.setProgress(Double(step) / 100) }
            XCTAssertEqual(Tracker.living, 1)
            resolver.fulfill(1)
        }
        eventually("the closure is gone") { Tracker.living == 0 }
        let tracker = Tracker()
        Promise<Int, any Error>.value(1).onProgress { _, _ in _ = tracker }
    }

    func testCombinatorsTellWhichShareIsDone() throws {
        let members = (0..<4).map { _ in Promise<Int, any Error>.pending() }
        let all = Promise.all(members.map(\.promise)).onProgress(on: .inline, write)
        for member in members { member.resolver.fulfill(1) }
        XCTAssertEqual(try all.wait(), [1, 1, 1, 1])
        XCTAssertEqual(told.entries.map(\.fraction), [0.25, 0.5, 0.75, 1])
    }

    func testProgressComesAlsoOfPromisesThatCannotFail() {
        let (promise, resolver) = Guarantee<Int>.pending(orElse: 0)
        promise.onProgress(on: .inline, write)
        promise.setProgress(0.5)
        XCTAssertEqual(told.entries, [News(0.5)])
        resolver.fulfill(1)
    }
}
