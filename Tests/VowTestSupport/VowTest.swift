// What every test of the Swift faces begins and ends with: nothing is held that was not held before.

import CVow
import Dispatch
import Synchronization
import Vow
import XCTest

/// The base of all suites here: a leak gate around each test.
open class VowTest: XCTestCase {
    private var before = Holdings()

    open override func setUp() {
        super.setUp()
        // What is made once and kept.
        _ = (
            PromiseExecutor.inline, PromiseExecutor.pool, PromiseExecutor.mainActor,
            PromiseExecutor.task(priority: .background), CancellationToken.never
        )
        before = Holdings()
    }

    open override func tearDown() {
        let before = before
        eventually("the test gives back what it took") { Holdings() == before }
        super.tearDown()
    }
}

/// What the library holds at a moment.
public struct Holdings: Equatable {
    let live: UInt64
    let bytes: UInt64

    public init() {
        var statistics = vow_statistics()
        statistics.size = MemoryLayout<vow_statistics>.size
        XCTAssertEqual(vow_stats(&statistics), 0)
        live = statistics.live
        bytes = statistics.bytes
    }
}

/// Fails unless the condition comes true within a minute.
public func eventually(
    _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
) {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        if ContinuousClock.now > end {
            XCTFail("in a minute it did not happen that \(what)", file: file, line: line)
            return
        }
        usleep(200)
    }
}

/// Counts its living instances, to see that handlers let go of what they have captured.
public final class Tracker: Sendable {
    private static let count = Atomic(0)
    public static var living: Int { count.load(ordering: .acquiring) }

    public init() { Tracker.count.add(1, ordering: .relaxed) }
    deinit { Tracker.count.subtract(1, ordering: .releasing) }
}

/// What handlers on several threads write down, in order.
public final class Journal<Entry: Sendable>: Sendable {
    private let lines = Guarded<[Entry]>([])

    public init() {}
    public var entries: [Entry] { lines.withLock { $0 } }
    public func write(_ entry: Entry) { lines.withLock { $0.append(entry) } }
}

/// An error of the tests' own.
public enum TestError: PromiseFailure, Equatable {
    case one, two, three
    /// What the library rejected with.
    case library

    public init(promiseError _: any Error) { self = .library }
}

/// The failure that a promise is rejected with.
public func failure<Success, Failure: Error>(
    of promise: Promise<Success, Failure>, file: StaticString = #filePath, line: UInt = #line
) -> (any Error)? {
    do {
        try promise.wait(timeout: .seconds(60))
        XCTFail("it was fulfilled", file: file, line: line)
        return nil
    } catch { return error }
}
