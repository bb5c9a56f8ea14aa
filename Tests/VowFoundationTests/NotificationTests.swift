// Tests of notifications as promises.

import Dispatch
import Foundation
import Vow
import VowFoundation
import XCTest

extension Notification.Name {
    fileprivate static let news = Notification.Name("vow.tests.news")
    fileprivate static let gossip = Notification.Name("vow.tests.gossip")
}

final class NotificationTests: VowTest {
    private let center = NotificationCenter()

    /// A reader of the number that a notification carries. An observer lives as long as its reader, which is counted.
    private func counted() -> @Sendable (Notification) -> Int {
        let tracker = Tracker()
        return { notification in
            withExtendedLifetime(tracker) { notification.userInfo?["number"] as? Int ?? 0 }
        }
    }

    private func post(_ name: Notification.Name, _ number: Int = 0, object: AnyObject? = nil) {
        center.post(name: name, object: object, userInfo: ["number": number])
    }

    func testTheNextNotificationFulfilsAndRemovesTheObserver() throws {
        let promise = center.promise(for: .news, counted())
        XCTAssertEqual(Tracker.living, 1)
        post(.gossip, 5)
        XCTAssertTrue(promise.isPending)
        post(.news, 6)
        XCTAssertEqual(Tracker.living, 0)
        post(.news, 7)
        XCTAssertEqual(try promise.wait(timeout: patience), 6)
    }

    func testOnlyNotificationsOfTheObjectCount() {
        let mine = NSObject()
        let promise: Promise<Void, any Error> = center.promise(for: .news, object: mine)
        post(.news, object: NSObject())
        XCTAssertTrue(promise.isPending)
        post(.news, object: mine)
        XCTAssertEqual(promise.state, .fulfilled)
    }

    func testWhatReadingThrowsRejects() {
        let promise = center.promise(for: .news) { _ -> Int in throw TestError.one }
        post(.news)
        XCTAssertEqual(failure(of: promise) as? TestError, .one)
    }

    func testCancellingRemovesTheObserver() {
        let promise = center.promise(for: .news, counted())
        XCTAssertTrue(promise.cancel())
        XCTAssertEqual(Tracker.living, 0)
        post(.news)
        XCTAssertTrue(promise.error is CancellationError)
    }

    func testTheLastReaderGoingRemovesTheObserver() {
        do {
            let promise = center.promise(for: .news, counted())
            XCTAssertTrue(promise.isPending)
            XCTAssertEqual(Tracker.living, 1)
        }
        XCTAssertEqual(Tracker.living, 0)
    }

    func testAHandlerKeepsTheObserver() {
        let journal = Journal<Int>()
        center.promise(for: .news, counted()).done(on: .inline) { journal.write($0) }.cauterize()
        XCTAssertEqual(Tracker.living, 1)
        post(.news, 7)
        XCTAssertEqual(journal.entries, [7])
        XCTAssertEqual(Tracker.living, 0)
    }

    func testOfPostsAtATimeOneCounts() {
        let center = NotificationCenter()
        for _ in 0..<100 {
            let reads = Journal<Int>()
            let promise = center.promise(for: .news) { _ in reads.write(1) }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                center.post(name: .news, object: nil)
            }
            XCTAssertEqual(promise.state, .fulfilled)
            XCTAssertEqual(reads.entries, [1])
        }
    }
}
