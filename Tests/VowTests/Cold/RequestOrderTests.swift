// Tests of three requests that depend on one another: in strict order, whichever thread answers.

import Dispatch
import Vow
import XCTest

final class RequestOrderTests: VowTest {
    private let order = Journal<String>()

    /// A request that is answered on a queue which runs everything at the same time.
    private func request(_ name: String) -> Async<String> {
        let order = order
        return Async { resolver in
            order.write("\(name) begins")
            DispatchQueue.global().async {
                order.write("\(name) ends")
                resolver.fulfill(name)
            }
        }
    }

    func testChainedRequestsRunOneAfterTheOther() throws {
        let (first, second, third) = (request("first"), request("second"), request("third"))
        let chain = first.flatMap { _ in second }.flatMap { _ in third }
        XCTAssertEqual(order.entries, [])
        XCTAssertEqual(try chain.promise().wait(), "third")
        XCTAssertEqual(
            order.entries,
            [
                "first begins", "first ends", "second begins", "second ends", "third begins",
                "third ends",
            ])
    }

    func testUnchainedRequestsEndAsTheyAreAnswered() throws {
        let ended = Journal<String>()
        let (first, answerFirst) = Promise<String, any Error>.pending()
        let (second, answerSecond) = Promise<String, any Error>.pending()
        for promise in [first, second] {
            Async(making: { promise }).execute(on: .inline) { ended.write((try? $0.get()) ?? "") }
        }
        answerSecond.fulfill("second")
        answerFirst.fulfill("first")
        XCTAssertEqual(ended.entries, ["second", "first"])
    }
}
