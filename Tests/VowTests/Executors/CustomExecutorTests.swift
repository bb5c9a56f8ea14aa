// Tests of the program's own executors: what they are given to run, and what becomes of work that they lose.

import Vow
import XCTest

/// Keeps work until it is asked to run it.
private final class Desk: Sendable {
    private let work = Guarded<[PromiseWork]>([])

    var count: Int { work.withLock { $0.count } }
    func put(_ item: PromiseWork) { work.withLock { $0.append(item) } }
    func takeAll() -> [PromiseWork] {
        work.withLock { items in
            defer { items = [] }
            return items
        }
    }

    func executor(isSerial: Bool = false) -> PromiseExecutor {
        .custom(isSerial: isSerial) { self.put($0) }
    }
}

final class CustomExecutorTests: VowTest {
    func testAHandlerRunsWhenItsWorkIsCalledAndOnlyOnce() {
        let desk = Desk()
        let journal = Journal<Int>()
        let promise = Promise<Int, Never>.value(1).map(on: desk.executor()) { journal.write($0) }
        XCTAssertEqual(desk.count, 1)
        XCTAssert(promise.isPending)
        let work = desk.takeAll()
        for item in work + work { item() }
        XCTAssertEqual(journal.entries, [1])
        XCTAssertEqual(promise.state, .fulfilled)
    }

    func testWorkThatManyThreadsCallRunsOnce() {
        let desk = Desk()
        let journal = Journal<Int>()
        let executor = desk.executor()
        for number in 0..<500 {
            Promise<Int, Never>.value(number).onSuccess(on: executor) { journal.write($0) }
            let work = desk.takeAll()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in for item in work { item() } }
        }
        XCTAssertEqual(journal.entries, Array(0..<500))
    }

    func testWorkThatIsLostRejectsItsPromise() {
        let desk = Desk()
        let journal = Journal<String>()
        let lost = Promise<Int, any Error>.value(1).map(on: desk.executor()) { _ in
            journal.write("handler")
        }
        lost.onFailure(on: .inline) { journal.write("told: \($0)") }
        _ = desk.takeAll()
        guard case PromiseError.shutDown? = lost.error else { return XCTFail("not rejected") }
        XCTAssertEqual(journal.entries, ["told: what was to run the work is gone"])
        // Inside of `submit` already.
        let careless = PromiseExecutor.custom { _ in }
        let dropped = Promise<Int, any Error>.value(1).map(on: careless) { $0 }
        guard case PromiseError.shutDown? = dropped.error else { return XCTFail("not rejected") }
    }

    func testWorkOfACancelledHandlerDoesNothing() {
        let desk = Desk()
        let journal = Journal<Int>()
        let promise = Promise<Int, any Error>.value(1).map(on: desk.executor()) {
            journal.write($0)
        }
        promise.cancel()
        for item in desk.takeAll() { item() }
        XCTAssertEqual(journal.entries, [])
        let other = Promise<Int, any Error>.value(1).map(on: desk.executor()) { journal.write($0) }
        other.cancel()
        _ = desk.takeAll()
        XCTAssert(other.isCancelled)
    }

    func testWorkThatRunsInsideOfSubmitIsPutOff() {
        let journal = Journal<String>()
        let executor = PromiseExecutor.custom { work in
            work()
            journal.write("submitted")
        }
        Promise<Int, Never>.value(1).map(on: executor) { _ in journal.write("handler") }.cauterize()
        XCTAssertEqual(journal.entries, ["submitted", "handler"])
    }

    func testHandlersAttachedInsideInheritTheExecutor() throws {
        let desk = Desk()
        let executor = desk.executor()
        let promise = Promise(on: executor) { Promise<Int, Never>.value(2).map { $0 + 1 } }
        while desk.count > 0 { for item in desk.takeAll() { item() } }
        XCTAssertEqual(try promise.result?.get(), 3)
    }

    func testAThreadThatBelongsToTheExecutorIsAskedFor() {
        let desk = Desk()
        let here = Shared(isHere: true)
        let executor = PromiseExecutor.custom(isCurrent: { here.isHere }) { desk.put($0) }
        Promise<Int, Never>.value(1).map { $0 }.cauterize()
        XCTAssertEqual(desk.count, 1)
        XCTAssertEqual(PromiseExecutor.current, executor)
        here.isHere = false
        XCTAssertEqual(PromiseExecutor.current, .pool)
        here.isHere = true
        for item in desk.takeAll() { item() }
    }

    func testASerialExecutorRefusesToWaitForItself() {
        let queue = DispatchQueue(label: "own")
        let executor = PromiseExecutor.custom(isSerial: true) { work in queue.async { work() } }
        let outer = Promise<Int, any Error>(on: executor) {
            try Promise<Int, Never>(on: executor) { 1 }.wait()
        }
        guard case PromiseError.deadlock? = failure(of: outer) else {
            return XCTFail("it was not refused")
        }
    }

    func testTheExecutorLivesAsLongAsItsWorkAndThenLetsGo() {
        let before = Tracker.living
        let desk = Desk()
        let promise: Promise<Int, Never>
        do {
            let tracker = Tracker()
            let executor = PromiseExecutor.custom { work in
                withExtendedLifetime(tracker) { desk.put(work) }
            }
            promise = Promise.value(1).map(on: executor) { $0 }
        }
        XCTAssertEqual(Tracker.living, before + 1)
        for item in desk.takeAll() { item() }
        XCTAssertEqual(promise.result, .success(1))
        XCTAssertEqual(Tracker.living, before)
    }
}

private final class Shared: Sendable {
    private let state: Guarded<Bool>

    init(isHere: Bool) { state = Guarded(isHere) }

    var isHere: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
