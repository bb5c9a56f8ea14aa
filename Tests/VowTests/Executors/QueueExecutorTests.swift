// Tests of executors on dispatch queues: place, order, barriers, and waits that cannot end.

import Dispatch
import Vow
import XCTest

/// Writes down on which queue it goes.
private final class Place: Sendable {
    private let key: DispatchSpecificKey<String>
    private let places: Journal<String>

    init(_ key: DispatchSpecificKey<String>, _ places: Journal<String>) {
        (self.key, self.places) = (key, places)
    }
    deinit { places.write(DispatchQueue.getSpecific(key: key) ?? "elsewhere") }

    func isCalled() { places.write("called") }
}

final class QueueExecutorTests: VowTest {
    private let key = DispatchSpecificKey<String>()

    private func queue(
        _ label: String, attributes: DispatchQueue.Attributes = []
    ) -> DispatchQueue {
        let queue = DispatchQueue(label: label, attributes: attributes)
        queue.setSpecific(key: key, value: label)
        return queue
    }

    func testHandlersRunOnTheirQueueAndInheritIt() throws {
        let key = key
        let executors: [PromiseExecutor] = [
            .queue(queue("here")), .serialQueue(queue("here")),
            .barrier(queue("here", attributes: .concurrent)),
            .queue(queue("here"), group: DispatchGroup(), qos: .utility, flags: .enforceQoS),
        ]
        for executor in executors {
            let places = Promise<Void, Never>.value
                .map(on: executor) { DispatchQueue.getSpecific(key: key) }
                .then(on: executor) { first in
                    // Without an executor: that of the handler.
                    Promise<Void, Never>.value.map { [first, DispatchQueue.getSpecific(key: key)] }
                }
            XCTAssertEqual(try places.wait(), ["here", "here"])
        }
        XCTAssertEqual(try Promise<Int, Never>(on: .global(qos: .utility)) { 1 }.wait(), 1)
    }

    func testWhatAClosureCapturesIsReleasedOnItsQueueAlsoWhereItIsNotCalled() throws {
        let places = Journal<String>()
        for executor in [.queue(queue("here")), .serialQueue(queue("here"))] as [PromiseExecutor] {
            for isCancelled in [false, true] {
                let (promise, resolver) = Promise<Int, any Error>.pending()
                let derived = {
                    let place = Place(key, places)
                    return promise.done(on: executor) { _ in place.isCalled() }
                }()
                if isCancelled { derived.cancel() } else { resolver.reject(TestError.one) }
                XCTAssertThrowsError(try derived.wait())
                resolver.fulfill(1)
            }
        }
        XCTAssertEqual(places.entries, ["here", "here", "here", "here"])
    }

    func testHandlersOfOnePromiseOnASerialQueueRunInOrder() throws {
        let journal = Journal<Int>()
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        for executor in [
            .queue(serial), .serialQueue(serial), .serial("own"), .barrier(concurrent),
            // It keeps the order, whatever the queue does.
            .serialQueue(concurrent),
        ] as [PromiseExecutor] {
            let (promise, resolver) = Promise<Int, Never>.pending(orElse: 0)
            let start = journal.entries.count
            let last = (0..<2_000).map { number in
                promise.map(on: executor) { _ in journal.write(number) }
            }.last
            resolver.fulfill(0)
            try last?.wait()
            XCTAssertEqual(Array(journal.entries[start...]), Array(0..<2_000))
        }
    }

    func testOnASerialQueueOneHandlerRunsAtATime() throws {
        let gauge = Gauge()
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        for executor in [.serialQueue(concurrent), .barrier(concurrent)] as [PromiseExecutor] {
            let all = (0..<200).map { _ in
                Promise<Void, Never>(on: executor) { gauge.within { usleep(10) } }
            }
            for promise in all { try promise.wait() }
        }
        XCTAssertEqual(gauge.highest, 1)
    }

    func testOneOfTwoWaitsThatWaitForEachOtherIsRefused() throws {
        let queues = (0..<2).map {
            PromiseExecutor.serialQueue(DispatchQueue(label: "crossed \($0)"))
        }
        let gates = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let waits = [0, 1].map { own in
            Promise<Bool, any Error>(on: queues[own]) {
                gates[1 - own].signal()
                gates[own].wait()
                do {
                    return try Promise<Bool, Never>(on: queues[1 - own]) { false }.wait()
                } catch PromiseError.deadlock {
                    return true
                }
            }
        }
        let refused = try waits.map { try $0.wait(timeout: .seconds(60)) }
        XCTAssertTrue(refused.contains(true))
    }

    func testAWaitThatBlocksItsOwnQueueIsRefused() {
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        for (one, other) in [
            // The same one, asked for again.
            (.serialQueue(serial), .serialQueue(serial)),
            (.barrier(concurrent), nil),
        ] as [(PromiseExecutor, PromiseExecutor?)] {
            let outer = Promise<Int, any Error>(on: one) {
                try Promise<Int, Never>(on: other ?? one) { 1 }.wait()
            }
            guard case PromiseError.deadlock? = failure(of: outer) else {
                return XCTFail("it was not refused")
            }
        }
    }

    func testASerialQueueHasOneExecutorWhileSomebodyHasIt() {
        let queue = DispatchQueue(label: "serial")
        let other = DispatchQueue(label: "serial")
        let executor = PromiseExecutor.serialQueue(queue)
        XCTAssertEqual(executor, .serialQueue(queue))
        XCTAssertNotEqual(executor, .serialQueue(other))
        XCTAssertEqual(PromiseExecutor.serialQueue(.main), .main)
    }

    func testAQueueWhoseExecutorIsGoneGetsAnotherOne() throws {
        let queue = DispatchQueue(label: "serial")
        for number in 0..<3 {
            XCTAssertEqual(try Promise(on: .serialQueue(queue)) { number }.wait(), number)
        }
    }

    func testAQueuesPromiseIsOfAValueOrOfAPromise() throws {
        let key = key
        let queue = queue("here")
        XCTAssertEqual(try queue.promise { DispatchQueue.getSpecific(key: key) }.wait(), "here")
        XCTAssertEqual(try queue.promise { Promise<Int, Never>.value(3) }.wait(), 3)
        XCTAssertEqual(
            try queue.promise(qos: .utility, flags: .enforceQoS) { "x" }.map { $0 + "y" }.wait(),
            "xy")
        let failing: Promise<Int, any Error> = queue.promise { throw TestError.one }
        XCTAssertEqual(failure(of: failing) as? TestError, .one)
        let group = DispatchGroup()
        let grouped = queue.promise(group: group) { 1 }
        group.wait()
        XCTAssertEqual(grouped.result, .success(1))
    }

    func testAnInlineHandlerRunsAfterTheOneThatSettled() throws {
        let journal = Journal<String>()
        let (promise, resolver) = Promise<Int, Never>.pending(orElse: 0)
        promise.onSuccess(on: .inline) { _ in journal.write("attached before") }
        Promise<Void, Never>.value.map(on: .inline) {
            journal.write("begins")
            resolver.fulfill(1)
            promise.onSuccess(on: .inline) { _ in journal.write("attached inside") }
            journal.write("ends")
        }
        XCTAssertEqual(journal.entries, ["begins", "ends", "attached before", "attached inside"])
    }

    func testAHandlerIsFreedWithItsCapturesOnAQueue() throws {
        let before = Tracker.living
        do {
            let tracker = Tracker()
            let executor = PromiseExecutor.queue(DispatchQueue(label: "queue"))
            try Promise<Void, Never>.value.map(on: executor) { withExtendedLifetime(tracker) {} }
                .wait()
        }
        eventually("the captures go") { Tracker.living == before }
    }
}
