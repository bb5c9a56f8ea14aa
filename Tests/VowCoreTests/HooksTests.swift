// Tests what producers ask to be called: once, in order, and destroyed in every case.

import CVow
import XCTest

@testable import VowCore

/// Writes 1, 2, ... when called and -1, -2, ... when destroyed.
final class HookNote {
    let number: Int
    let journal: Journal
    init(_ number: Int, _ journal: Journal) { (self.number, self.journal) = (number, journal) }
}

func makeNotedHook(_ number: Int, _ journal: Journal) -> HookPointer {
    makeHook(
        { context in
            let note = context!.object(HookNote.self)
            note.journal.write(note.number)
        }, Unmanaged.passRetained(HookNote(number, journal)).toOpaque(),
        { context in
            let note = Unmanaged<HookNote>.fromOpaque(context!).takeRetainedValue()
            note.journal.write(-note.number)
        })!
}

final class HooksTests: CoreTest {
    private let journal = Journal()

    private func add(_ numbers: Int..., to promise: RecordPointer) {
        for number in numbers { addHook(makeNotedHook(number, journal), to: promise, thread) }
        leave(thread)
    }

    func testHooksOfACancelledPromiseAreCalledInOrderAndDestroyed() {
        let promise = openPromise()
        add(1, 2, 3, to: promise)
        XCTAssertEqual(journal.entries, [])
        cancelNow(promise)
        XCTAssertEqual(journal.entries, [1, -1, 2, -2, 3, -3])
        promise.releaseResolver(thread)
        drop(promise)
        XCTAssertEqual(journal.entries.count, 6)
    }

    func testHooksOfAResolvedPromiseAreOnlyDestroyed() {
        let values: [() -> vow_value] = [
            { vow_int(1) }, { failure(1) },
            { asValue(makePromise(of: vow_int(1), currentThread())) },
        ]
        for make in values {
            let promise = openPromise()
            add(1, 2, to: promise)
            resolveLast(promise, make())
            dropObserved(promise)
        }
        XCTAssertEqual(journal.entries, [-1, -2, -1, -2, -1, -2])
    }

    func testHooksOfABrokenPromiseAreOnlyDestroyed() {
        let promise = openPromise()
        add(1, to: promise)
        promise.releaseResolver(thread)
        dropObserved(promise)
        XCTAssertEqual(journal.entries, [-1])
    }

    func testHooksAreCalledWhenTheLastReaderGoes() {
        let promise = openPromise()
        promise.retain()
        add(1, to: promise)
        drop(promise)
        XCTAssertEqual(journal.entries, [])
        drop(promise)
        XCTAssertEqual(journal.entries, [1, -1])
        XCTAssertTrue(resolveLast(promise, vow_int(1)))
    }

    func testAHookThatComesTooLateIsCalledAtOnceOrOnlyDestroyed() {
        let cancelled = openPromise()
        cancelNow(cancelled)
        add(1, to: cancelled)
        XCTAssertEqual(journal.entries, [1, -1])
        cancelled.releaseResolver(thread)
        drop(cancelled)

        let unread = openPromise()
        drop(unread)
        add(2, to: unread)
        XCTAssertEqual(journal.entries, [1, -1, 2, -2])
        unread.releaseResolver(thread)

        let resolved = openPromise()
        resolved.retainProducer()
        resolveLast(resolved, vow_int(1))
        add(3, to: resolved)
        XCTAssertEqual(journal.entries, [1, -1, 2, -2, -3])
        resolved.releaseResolver(thread)
        drop(resolved)
    }

    func testAProducersOwnCancellationCallsNoHook() {
        let promise = openPromise()
        promise.retainProducer()
        resolveLast(promise, ownErrors.cancelled)
        add(1, to: promise)
        XCTAssertEqual(journal.entries, [-1])
        promise.releaseResolver(thread)
        dropObserved(promise)
    }

    func testAPromiseThatFollowedAndWasCancelledThenCallsNoHook() {
        let inner = openPromise()
        inner.retain()
        let promise = openPromise()
        promise.retainProducer()
        resolveLast(promise, asValue(inner))
        cancelNow(promise)
        add(1, to: promise)
        XCTAssertEqual(journal.entries, [-1])
        promise.releaseResolver(thread)
        drop(promise)
        resolveLast(inner, vow_none())
        drop(inner)
    }

    func testG11_aHookMayNotWaitForWhatIsCancelledWithItsPromise() {
        final class Fixture {
            var end: RecordPointer!
            var result: WaitResult?
        }
        let fixture = Fixture()
        let root = openPromise()
        addHook(
            makeHook(
                { context in
                    let fixture = context!.object(Fixture.self)
                    fixture.result = waitFor(fixture.end, nanoseconds: 60_000_000_000)
                }, pointer(to: fixture), nil)!, to: root, thread)
        fixture.end = link(root) { input, _ in input }
        cancelNow(fixture.end)
        XCTAssertEqual(fixture.result, .deadlock)
        XCTAssertEqual(phase(of: fixture.end), .settled)
        root.releaseResolver(thread)
        drop(fixture.end)
    }

    func testG12_addingWhileTheLastReaderGoesCallsAndDestroysEach() {
        for _ in 0..<300 {
            let promise = openPromise()
            let journal = Journal()
            onThreads(2) { index in
                let thread = currentThread()
                if index == 0 {
                    for number in 1...4 {
                        addHook(makeNotedHook(number, journal), to: promise, thread)
                    }
                } else {
                    drop(promise)
                }
                leave(thread)
            }
            XCTAssertEqual(journal.entries.sorted(), [-4, -3, -2, -1, 1, 2, 3, 4])
            promise.releaseResolver(thread)
        }
    }
}
