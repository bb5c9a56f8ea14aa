// Tests which executor a reaction gets when it names none.

import CVow
import Synchronization
import XCTest

@testable import VowCore

/// What a custom executor's `current` answers, per thread.
private final class Place: @unchecked Sendable {
    var home: pthread_t?
    private let count = Atomic(0)
    var asked: Int { count.load(ordering: .relaxed) }

    func ask() -> Bool {
        count.add(1, ordering: .relaxed)
        return home.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
}

final class CurrentTests: CoreTest {
    override func tearDown() {
        setStandardExecutor(nil, thread)
        super.tearDown()
    }

    private func chosen(_ named: ExecutorPointer? = nil) -> ExecutorPointer {
        let thread = currentThread()
        let executor = executorForReaction(named, thread)
        executor.release(thread)
        return executor
    }

    /// Lives for ever: a thread that is just asking an executor keeps it a little longer than its owner does.
    nonisolated(unsafe) private static let ambientClass: UnsafePointer<vow_executor_class> = {
        let cls = UnsafeMutablePointer<vow_executor_class>.allocate(capacity: 1)
        cls.initialize(
            to: vow_executor_class(
                size: MemoryLayout<vow_executor_class>.size, submit: { _, run, item in run(item) },
                current: { context in context!.object(Place.self).ask() }, destroy: nil,
                flags: 0))
        return UnsafePointer(cls)
    }()

    /// An executor that says it is current on the place's home thread.
    private func withAmbient(_ place: Place, _ body: (ExecutorPointer) -> Void) {
        let executor = makeCustomExecutor(Self.ambientClass, pointer(to: place))!
        body(executor)
        executor.release(currentThread())
    }

    func testOutsideOfEverythingItIsThePool() {
        XCTAssertEqual(chosen(), ownExecutors.pool)
    }

    func testTheNamedOneWinsEverywhere() {
        XCTAssertEqual(chosen(ownExecutors.inline), ownExecutors.inline)
        setStandardExecutor(ownExecutors.main, thread)
        XCTAssertEqual(chosen(ownExecutors.inline), ownExecutors.inline)
    }

    func testInsideAHandlerItIsThatHandlers() {
        final class Fixture { var chosen: ExecutorPointer? }
        let serial = makeSerialExecutor(label: nil)!
        for executor in [ownExecutors.inline, ownExecutors.pool, serial] {
            let fixture = Fixture()
            setStandardExecutor(ownExecutors.main, thread)
            let derived = link(makePromise(of: vow_none(), thread), on: executor, with: fixture) {
                _, context in
                let thread = currentThread()
                let executor = executorForReaction(nil, thread)
                executor.release(thread)
                context!.object(Fixture.self).chosen = executor
                return vow_none()
            }
            expectSettled(derived)
            XCTAssertEqual(fixture.chosen, executor)
            drop(derived)
        }
        serial.release(thread)
    }

    func testTheDefaultCanBeReplacedAndRestored() {
        let serial = makeSerialExecutor(label: nil)!
        setStandardExecutor(serial, thread)
        XCTAssertEqual(serial.pointee.counts.loadAcquire(), 2)
        XCTAssertEqual(chosen(), serial)
        setStandardExecutor(ownExecutors.inline, thread)
        XCTAssertEqual(serial.pointee.counts.loadAcquire(), 1)
        XCTAssertEqual(chosen(), ownExecutors.inline)
        setStandardExecutor(nil, thread)
        XCTAssertEqual(chosen(), ownExecutors.pool)
        serial.release(thread)
    }

    func testOnAThreadOfACustomExecutorItIsThatOne() {
        let place = Place()
        withAmbient(place) { executor in
            XCTAssertEqual(chosen(), ownExecutors.pool)
            place.home = pthread_self()
            XCTAssertEqual(chosen(), executor)
            setStandardExecutor(ownExecutors.inline, thread)
            XCTAssertEqual(chosen(), executor)
            Worker { XCTAssertEqual(self.chosen(), ownExecutors.inline) }.join()
            XCTAssertEqual(executor.pointee.counts.loadAcquire(), 1)
        }
        XCTAssertEqual(chosen(), ownExecutors.inline)
        XCTAssertEqual(place.asked, 4)
    }

    func testWhoSaidSoLastOnThisThreadIsAskedFirst() {
        let (mine, other) = (Place(), Place())
        mine.home = pthread_self()
        withAmbient(mine) { executor in
            withAmbient(other) { newer in
                XCTAssertEqual(chosen(), executor)
                XCTAssertEqual(other.asked, 1)
                for _ in 0..<10 { XCTAssertEqual(chosen(), executor) }
                XCTAssertEqual(other.asked, 1)
                // It does not say so any more.
                mine.home = nil
                other.home = pthread_self()
                let asked = mine.asked
                for _ in 0..<3 { XCTAssertEqual(chosen(), newer) }
                XCTAssertEqual(mine.asked, asked + 1)
                other.home = nil
                XCTAssertEqual(chosen(), ownExecutors.pool)
                XCTAssertEqual(executor.pointee.counts.loadAcquire(), 1)
                XCTAssertEqual(newer.pointee.counts.loadAcquire(), 1)
            }
        }
    }

    func testAmongVeryManyEachIsAskedOnceAndKeptByNobody() {
        for count in [1, 15, 16, 17, 32, 33, 100] {
            let places = (0..<count).map { _ in Place() }
            let executors = places.map { makeCustomExecutor(Self.ambientClass, pointer(to: $0))! }
            XCTAssertEqual(chosen(), ownExecutors.pool)
            XCTAssert(places.allSatisfy { $0.asked == 1 })
            for index in [0, count / 2, count - 1] {
                for place in places { place.home = nil }
                places[index].home = pthread_self()
                XCTAssertEqual(chosen(), executors[index])
                XCTAssertEqual(chosen(), executors[index])
            }
            XCTAssert(executors.allSatisfy { $0.pointee.counts.loadAcquire() == 1 })
            for executor in executors { executor.release(thread) }
            XCTAssertEqual(chosen(), ownExecutors.pool)
        }
    }

    func testG3_whatAThreadRemembersKeepsNoExecutorAndEndsWithTheThread() {
        let place = Place()
        for _ in 0..<3 {
            withAmbient(place) { executor in
                for _ in 0..<3 {
                    Worker {
                        place.home = pthread_self()
                        XCTAssertEqual(self.chosen(), executor)
                        place.home = nil
                    }.join()
                }
                XCTAssertNil(executor.pointee.firstRemembering)
                place.home = pthread_self()
                XCTAssertEqual(chosen(), executor)
                XCTAssertNotNil(executor.pointee.firstRemembering)
                XCTAssertEqual(executor.pointee.counts.loadAcquire(), 1)
            }
            XCTAssertEqual(chosen(), ownExecutors.pool)
        }
    }

    func testSeveralCustomExecutorsAreAskedUntilOneSaysYes() {
        let (first, second, third) = (Place(), Place(), Place())
        second.home = pthread_self()
        withAmbient(first) { _ in
            withAmbient(second) { executor in
                withAmbient(third) { _ in XCTAssertEqual(chosen(), executor) }
                XCTAssertEqual(chosen(), executor)
            }
            XCTAssertEqual(chosen(), ownExecutors.pool)
        }
        XCTAssertEqual(third.asked, 1)
        XCTAssertEqual(second.asked, 2)
    }

    func testCustomExecutorsMayComeAndGoWhileThreadsLook() {
        let places = (0..<4).map { _ in Place() }
        onThreads(4) { index in
            for _ in 0..<200 {
                if index % 2 == 0 {
                    self.withAmbient(places[index]) { _ in }
                } else {
                    XCTAssertEqual(self.chosen(), ownExecutors.pool)
                }
            }
        }
    }

    func testEachReactionHoldsItsExecutor() {
        let serial = makeSerialExecutor(label: nil)!
        let promise = openPromise()
        let links = (0..<3).map { _ in branch(promise, on: serial) { input, _ in input } }
        XCTAssertEqual(serial.pointee.counts.loadAcquire(), 4)
        resolveLast(promise, failure(1))
        XCTAssertEqual(serial.pointee.counts.loadAcquire(), 1)
        for link in links { dropObserved(link) }
        dropObserved(promise)
        serial.release(thread)
    }

    func testTheOwnExecutorsAreImmortalAndApart() {
        let own = [ownExecutors.inline, ownExecutors.pool, ownExecutors.main]
        XCTAssertEqual(Set(own).count, 3)
        XCTAssertEqual(own.map { $0.pointee.kind }, [.inline, .pool, .serial])
        XCTAssertEqual(own.map { $0.pointee.isSerial }, [false, false, true])
        let cost = Cost.of {
            for executor in own {
                XCTAssertTrue(executor.pointee.isImmortal)
                for _ in 0..<3 { executor.release(thread) }
                executor.retain()
                XCTAssertEqual(executor.pointee.counts.loadAcquire(), 1)
            }
        }
        XCTAssertEqual(cost, Cost())
    }
}
