// Tests of the recipe for delegates: an object that keeps itself until it is told, and then settles.

import Foundation
import Vow
import XCTest

/// A system that tells a delegate which button was pressed, and holds that delegate weakly.
private final class Alert: Sendable {
    protocol Delegate: AnyObject, Sendable { func alertWasClosed(button: Int) }

    private struct Weakly: Sendable { weak let delegate: (any Delegate)? }

    private let delegate = Guarded(Weakly(delegate: nil))

    func show(for delegate: any Delegate) {
        self.delegate.withLock { $0 = Weakly(delegate: delegate) }
    }

    /// False: nobody is there to be told.
    func press(_ button: Int) -> Bool {
        guard let delegate = delegate.withLock({ $0.delegate }) else { return false }
        delegate.alertWasClosed(button: button)
        return true
    }
}

/// What turns the delegate's call into a promise.
private final class AlertReader: Alert.Delegate {
    private let tracker = Tracker()
    private let resolver: PromiseResolver<Int, any Error>
    private let itself = Guarded<AlertReader?>(nil)

    static func promise(_ alert: Alert) -> Promise<Int, any Error> {
        Promise { resolver in
            let reader = AlertReader(resolver)
            reader.itself.withLock { $0 = reader }
            // Nobody waits for the button any more: the cycle is opened.
            resolver.onCancel { [weak reader] in reader?.letGo() }
            alert.show(for: reader)
        }
    }

    private init(_ resolver: PromiseResolver<Int, any Error>) { self.resolver = resolver }

    func alertWasClosed(button: Int) {
        resolver.fulfill(button)
        letGo()
    }

    private func letGo() { itself.withLock { $0 = nil } }
}

final class DelegateTests: VowTest {
    func testADelegateKeepsItselfUntilItIsTold() throws {
        let alert = Alert()
        let promise = AlertReader.promise(alert)
        XCTAssertEqual(Tracker.living, 1)
        XCTAssertTrue(alert.press(2))
        XCTAssertEqual(try promise.wait(timeout: patience), 2)
        XCTAssertEqual(Tracker.living, 0)
        XCTAssertFalse(alert.press(3))
    }

    func testADelegateGoesWhenNobodyWaits() {
        let alert = Alert()
        XCTAssertTrue(AlertReader.promise(alert).isPending)
        XCTAssertEqual(Tracker.living, 0)
        XCTAssertFalse(alert.press(1))
    }

    /// The producer keeps the promise and the chain behind it; the consumer may drop what it has.
    func testAPendingChainIsKeptByItsProducerAlone() {
        let journal = Journal<Int>()
        let alert = Alert()
        AlertReader.promise(alert).map(on: .inline) { $0 * 10 }
            .done(on: .inline) { journal.write($0) }.cauterize()
        XCTAssertEqual(Tracker.living, 1)
        XCTAssertTrue(alert.press(4))
        XCTAssertEqual(journal.entries, [40])
        XCTAssertEqual(Tracker.living, 0)
    }
}
