// Tests that descriptions of any length run and are freed on a small stack.

import Vow
import VowTestSupport
import XCTest

final class ColdDepthTests: VowTest {
    private let length = manyOf(30_000, full: 100_000)

    /// What a thread of the pool comes to, whose stack is a small one.
    private func onSmallStack(_ body: @escaping @Sendable () -> Promise<Int, any Error>) throws
        -> Int
    {
        try Promise(on: .pool, body).wait(timeout: .seconds(60))
    }

    func testALongDescription() throws {
        let length = length
        let count = try onSmallStack {
            var work = Async.value(0)
            for _ in 0..<length { work = work.map(on: .inline) { $0 + 1 } }
            return work.promise()
        }
        XCTAssertEqual(count, length)
    }

    func testALongDescriptionThatIsNeverRun() throws {
        let length = length
        let count = try onSmallStack {
            do {
                var work = Async.value(0)
                let tracker = Tracker()
                for _ in 0..<length {
                    work = work.map { number in withExtendedLifetime(tracker) { number + 1 } }
                }
            }
            return .value(Tracker.living)
        }
        XCTAssertEqual(count, 0)
    }

    func testAPartThatTwoDescriptionsShareOutlivesOneOfThem() throws {
        let shared = Async.value(1).map { $0 + 1 }.map { $0 * 10 }
        do {
            let other = shared.map { $0 + 1 }.map { $0 + 1 }
            XCTAssertEqual(try other.promise().wait(), 22)
        }
        XCTAssertEqual(try shared.map { $0 + 5 }.promise().wait(), 25)
    }

    func testALongPipeline() throws {
        let length = length
        let count = try onSmallStack {
            let addOne = Action<Int, Int> { (number: Int) in number + 1 }
            var pipeline = addOne
            for _ in 1..<length { pipeline = pipeline.then(addOne) }
            return pipeline(0)
        }
        XCTAssertEqual(count, length)
    }
}
