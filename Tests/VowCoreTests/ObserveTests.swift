// Tests observers, as combinators use them: told once, or stopped, and always let go.

import CVow
import XCTest

@testable import VowCore

/// An owner in memory of its own, with observers behind it.
private struct Panel {
    private final class Events {
        var told: [(RecordPointer, RecordPointer)] = []; var stopped: [RecordPointer] = [];
        var whenTold: ((RecordPointer) -> Void)?
    }
    private let events = Events()
    private let owner = UnsafeMutablePointer<ObserverOwner>.allocate(capacity: 1)
    private let memory: UnsafeMutableRawPointer
    let observers: [RecordPointer]

    init(_ count: Int) {
        let events = events
        owner.initialize(
            to: ObserverOwner(
                told: { observer, promise, thread in
                    events.told.append((observer, promise))
                    if events.whenTold != nil { callBack(observer, thread) }
                }, stopped: { observer, _ in events.stopped.append(observer) },
                calledBack: { observer, _ in events.whenTold?(observer) }))
        memory = UnsafeMutableRawPointer.allocate(byteCount: count * 64, alignment: 16)
        let (memory, owner) = (memory, owner)
        observers = (0..<count).map { initialiseObserver(at: memory + $0 * 64, owner: owner) }
    }

    var told: [RecordPointer] { events.told.map(\.0) }
    var promises: [RecordPointer] { events.told.map(\.1) }
    var stopped: [RecordPointer] { events.stopped }
    func whenTold(_ body: @escaping (RecordPointer) -> Void) { events.whenTold = body }

    func end() {
        events.whenTold = nil
        owner.deinitialize(count: 1)
        owner.deallocate()
        memory.deallocate()
    }
}

final class ObserveTests: CoreTest {
    func testAnObserverIsToldWhenItsPromiseSettlesAndLetsGo() {
        let panel = Panel(1)
        let promise = openPromise()
        promise.retain()
        observe(promise, by: panel.observers[0], thread)
        XCTAssertEqual(panel.told, [])
        XCTAssertTrue(promise.pointee.isObserved.isSet)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 2, producers: 1))
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(panel.told, panel.observers)
        XCTAssertEqual(panel.promises, [promise])
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertFalse(stopObserving(panel.observers[0], cancelling: true, thread))
        drop(promise)
        panel.end()
    }

    func testAnObserverOfASettledPromiseIsToldBeforeTheCallReturnsAndCanLookAgain() {
        let panel = Panel(1)
        for count in 1...3 {
            observe(makePromise(of: vow_int(1), thread), by: panel.observers[0], thread)
            XCTAssertEqual(panel.told.count, count)
        }
        panel.end()
    }

    func testAStoppedObserverLetsGoAndThePromiseIsCancelledIfNobodyElseReadsIt() {
        for isRead in [false, true] {
            for isCancelling in [false, true] {
                let panel = Panel(1)
                let promise = openPromise()
                if isRead { promise.retain() }
                observe(promise, by: panel.observers[0], thread)
                XCTAssertTrue(stopObserving(panel.observers[0], cancelling: isCancelling, thread))
                XCTAssertEqual(panel.stopped, panel.observers)
                XCTAssertNil(promise.pointee.state.read().head)
                XCTAssertEqual(phase(of: promise), isCancelling && !isRead ? .settled : .open)
                XCTAssertFalse(stopObserving(panel.observers[0], cancelling: true, thread))
                resolveLast(promise, vow_none())
                if isRead { drop(promise) }
                XCTAssertEqual(panel.told, [])
                panel.end()
            }
        }
    }

    func testAllOfAPromiseAreToldBeforeOneIsCalledBackWhoMayStopOthers() {
        let panel = Panel(3)
        let promise = openPromise()
        for observer in panel.observers {
            promise.retain()
            observe(promise, by: observer, thread)
        }
        panel.whenTold { _ in
            for other in panel.observers {
                _ = stopObserving(other, cancelling: true, currentThread())
            }
        }
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(panel.told, panel.observers, "all of them, before any is called back")
        XCTAssertEqual(panel.stopped, [])
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        drop(promise)
        panel.end()
    }

    func testStoppingAnotherOneWhoseFollowerSettlesWithItDoesNotHang() {
        let panel = Panel(2)
        let inner = openPromise()
        for observer in panel.observers {
            inner.retain()
            let outer = openPromise()
            resolveLast(outer, asValue(inner))
            observe(outer, by: observer, thread)
        }
        panel.whenTold { observer in
            for other in panel.observers where other != observer {
                _ = stopObserving(other, cancelling: true, currentThread())
            }
        }
        resolveLast(inner, vow_int(1))
        XCTAssertEqual(panel.told.count + panel.stopped.count, 2)
        drop(inner)
        panel.end()
    }

    func testG12_stoppingWhileThePromiseSettlesEndsEachObserverOnce() {
        for _ in 0..<500 {
            let panel = Panel(1)
            let promise = openPromise()
            promise.retain()
            observe(promise, by: panel.observers[0], thread)
            onThreads(2) { index in
                if index == 0 {
                    resolveLast(promise, vow_int(1))
                } else {
                    _ = stopObserving(panel.observers[0], cancelling: true, currentThread())
                }
            }
            XCTAssertEqual(panel.told.count + panel.stopped.count, 1)
            drop(promise)
            panel.end()
        }
    }
}
