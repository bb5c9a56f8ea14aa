// Tests that closures written on the main actor run elsewhere without being taken for its own, which would stop
// the program in Swift 6.

import CVow
import Dispatch
import Vow
import XCTest

@MainActor private final class ViewModel {
    private(set) var text = ""
    let places = Journal<String>()

    /// Each closure stands on the main actor, and none runs there.
    func load(_ number: Int) -> Promise<Int, any Error> {
        let places = places
        let queue = DispatchQueue(label: "custom")
        let executor = PromiseExecutor.custom(isCurrent: { false }) { work in
            places.write("submit")
            queue.async { work() }
        }
        let source = CancellationSource()
        source.token.onCancel { places.write("token") }
        let (cancelled, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { places.write("resolver") }
        DispatchQueue.global().async {
            source.cancel()
            withExtendedLifetime(resolver) { _ = cancelled.cancel() }
        }
        return Promise(on: .pool) { number }
            .map { $0 + 1 }
            .then(on: executor) { Promise<Int, any Error>.value($0) }
            .map(on: .global()) { number in number + 1 }
            .finally { places.write("finally") }
            .get { _ in places.write("get") }
    }

    func show(_ number: Promise<Int, any Error>) async throws {
        text = "\(try await number.value)"
    }
}

final class MainActorConsumerTests: VowTest {
    @MainActor
    func testClosuresOfTheMainActorRunElsewhere() async throws {
        let model = ViewModel()
        try await model.show(model.load(1))
        XCTAssertEqual(model.text, "3")
        eventually("the hooks were called") { model.places.entries.count == 5 }
        XCTAssertEqual(
            model.places.entries.sorted(), ["finally", "get", "resolver", "submit", "token"])
    }

    @MainActor
    func testHandlersOfTheCFunctionsRunElsewhere() {
        let promise = vow_then(
            vow_promise_with(vow_int(21)),
            { input, _ in
                handlersPlaces.write(Thread.isMainThread)
                return vow_int(input.as.integer * 2)
            }, nil)
        var number = vow_none()
        // Without a time-out this thread might run the handler itself.
        let aMinute: Int64 = 60_000_000_000
        XCTAssertEqual(vow_await(promise, aMinute, &number), Int32(VOW_FULFILLED))
        vow_promise_release(promise)
        XCTAssertEqual(number.as.integer, 42)
        XCTAssertEqual(handlersPlaces.entries, [false])
    }
}

private let handlersPlaces = Journal<Bool>()
