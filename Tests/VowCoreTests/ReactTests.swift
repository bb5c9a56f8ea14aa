// Tests registering: what a link costs, where it waits, and when it goes straight to its executor.

import CVow
import XCTest

@testable import VowCore

final class ReactTests: CoreTest {
    func testALinkIsOneAllocationOf72BytesAndWaitsInTheQueue() {
        let promise = openPromise()
        var derived: RecordPointer!
        let cost = Cost.of { derived = branch(promise) { input, _ in input } }
        XCTAssertEqual(cost, Cost(taken: 72, made: 1, registered: 1))
        XCTAssertEqual(promise.pointee.state.read().head, derived)
        XCTAssertEqual(derived.upstream, promise)
        XCTAssertEqual(phase(of: derived), .open)
        resolveLast(promise, vow_none())
        drop(derived, promise)
    }

    func testALinkWithExtrasIsOneAllocationOf96Bytes() {
        let promise = openPromise()
        var derived: RecordPointer!
        let cost = Cost.of { derived = linkWithExtras(promise) }
        XCTAssertEqual(cost, Cost(taken: 96, made: 1, registered: 1))
        resolveLast(promise, vow_none())
        drop(derived)
    }

    func testALinkOnASettledPromiseDoesNotEnterItsQueue() {
        let promise = makePromise(of: vow_int(1), thread)
        let before = promise.pointee.state.read().bits
        let journal = Journal()
        promise.retain()
        let derived = react(
            to: promise,
            Reaction(
                shape: [.link, .onFulfilled],
                handler: { _, context in
                    context!.object(Journal.self).write(1); return vow_none()
                },
                context: pointer(to: journal), executor: ownExecutors.inline), thread)
        XCTAssertEqual(members(thread.pointee.agenda.ready), [derived])
        XCTAssertEqual(promise.pointee.state.read().bits, before)
        XCTAssertEqual(journal.entries, [])
        leave(thread)
        XCTAssertEqual(journal.entries, [1])
        drop(derived, promise)
    }

    func testAnOutcomeThatTheLinkDoesNotHandlePassesThroughAtOnce() {
        let rejected = makePromise(of: failure(1), thread)
        let value = makeString("v", length: 1)!
        let fulfilled = makePromise(of: value, thread)
        var derived: [RecordPointer] = []
        let cost = Cost.of {
            derived.append(branch(rejected) { _, _ in vow_none() })
            derived.append(branch(fulfilled, [.link, .onRejected]) { _, _ in vow_none() })
        }
        XCTAssertEqual(cost, Cost(taken: 144, made: 2, settled: 2, registered: 2, done: 2))
        XCTAssertEqual(derived[0].value.box, rejected.value.box)
        XCTAssertEqual(derived[1].value.box, value.box)
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 2)
        dropObserved(derived[0])
        drop(derived[1], rejected, fulfilled)
    }

    func testRegisteringObservesARejectionAndWritesNothingToAFulfilment() {
        let rejected = makePromise(of: failure(1), thread)
        let fulfilled = makePromise(of: vow_none(), thread)
        let pending = openPromise()
        for promise in [rejected, fulfilled, pending] {
            XCTAssertFalse(promise.pointee.isObserved.isSet)
        }
        let links = [rejected, fulfilled, pending].map { branch($0) { _, _ in vow_none() } }
        XCTAssertTrue(rejected.pointee.isObserved.isSet)
        XCTAssertFalse(fulfilled.pointee.isObserved.isSet)
        XCTAssertTrue(pending.pointee.isObserved.isSet)
        resolveLast(pending, vow_none())
        for link in links { dropObserved(link) }
        drop(rejected, fulfilled, pending)
    }

    func testG4_anInlineLinkMadeInAHandlerRunsAfterIt() {
        final class Fixture {
            let journal = Journal()
            var inner: RecordPointer?
        }
        let fixture = Fixture()
        let outer = link(makePromise(of: vow_none(), thread), with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            let settled = makePromise(of: vow_none(), currentThread())
            fixture.inner = link(settled, with: fixture.journal) { _, context in
                context!.object(Journal.self).write(2)
                return vow_none()
            }
            fixture.journal.write(1)
            return vow_none()
        }
        XCTAssertEqual(fixture.journal.entries, [1, 2])
        drop(outer, fixture.inner!)
    }

    func testG2_aSharedSettledPromiseIsDeliveringWhileAHandlerPutsALinkOff() {
        final class Fixture {
            var shared: RecordPointer!
            let journal = Journal()
            var links: [RecordPointer] = []
        }
        let fixture = Fixture()
        fixture.shared = makePromise(of: vow_int(5), thread)
        let outer = link(makePromise(of: vow_none(), thread), with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            for _ in 0..<3 {
                fixture.links.append(
                    branch(fixture.shared, with: fixture.journal) { input, context in
                        context!.object(Journal.self).write(Int(input.as.integer))
                        return vow_none()
                    })
            }
            XCTAssertEqual(phase(of: fixture.shared), .delivering)
            XCTAssertEqual(fixture.shared.inlineLeft, 1)
            fixture.journal.write(0)
            return vow_none()
        }
        XCTAssertEqual(fixture.journal.entries, [0, 5, 5, 5])
        XCTAssertEqual(phase(of: fixture.shared), .settled)
        for link in fixture.links { drop(link) }
        drop(outer, fixture.shared)
    }

    func testWorkThatReadsNoPromiseRunsWithNothingAsInput() {
        let journal = Journal()
        let work = makeWork(
            Reaction(
                shape: [.link, .onFulfilled],
                handler: { input, context in
                    context!.object(Journal.self).write(Int(input.kind))
                    return vow_int(8)
                }, context: pointer(to: journal), executor: ownExecutors.inline), thread)
        XCTAssertEqual(journal.entries, [])
        leave(thread)
        XCTAssertEqual(journal.entries, [Int(VOW_NONE)])
        XCTAssertEqual(work.value.as.integer, 8)
        drop(work)
    }

    func testG2_linksOfManyThreadsRunOnceEachAndInOrderPerThread() {
        final class Note {
            let journal: Journal
            let entry: Int
            init(_ journal: Journal, _ entry: Int) { (self.journal, self.entry) = (journal, entry) }
        }
        for round in 0..<50 {
            let promise = openPromise()
            let journal = Journal()
            let queue = makeSerialExecutor(label: "order")!
            let notes = (0..<100).map { Note(journal, $0) }
            onThreads(5) { index in
                if index == 4 {
                    if round % 2 == 0 { usleep(50) }
                    resolveLast(promise, vow_none())
                    return
                }
                for note in notes[index * 25..<index * 25 + 25] {
                    drop(
                        branch(promise, on: queue, with: note) { _, context in
                            let note = context!.object(Note.self)
                            note.journal.write(note.entry)
                            return vow_none()
                        })
                }
            }
            eventually("all handlers run") { journal.entries.count == 100 }
            for part in 0..<4 {
                let mine = journal.entries.filter { $0 / 25 == part }
                XCTAssertEqual(mine, Array(part * 25..<part * 25 + 25), "round \(round)")
            }
            drop(promise)
            queue.release(thread)
            withExtendedLifetime(notes) {}
        }
    }
}
