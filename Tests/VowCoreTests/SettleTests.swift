// Tests settling: the value is published, the queue is handed over in order, nothing recurses.

import CVow
import XCTest

@testable import VowCore

/// Writes its input down.
private let note: Handler = { input, context in
    context!.object(Journal.self).write(Int(input.as.integer))
    return input
}

final class SettleTests: CoreTest {
    /// Settles a promise that its resolver has claimed, and runs nothing.
    private func settleOnly(_ promise: RecordPointer, _ value: vow_value) {
        XCTAssertTrue(promise.pointee.state.transitionToClaimed(from: .open))
        VowCore.settle(promise, value, ownsProducer: true, thread)
    }

    func testSettlingWithoutAQueueTakesNoMemoryAndGivesTheProducerBack() {
        let promise = openPromise()
        XCTAssertEqual(Cost.of { settleOnly(promise, vow_int(1)) }, Cost(settled: 1))
        XCTAssertEqual(phase(of: promise), .settled)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        drop(promise)
    }

    func testTheCallerMayKeepItsProducer() {
        let promise = openPromise()
        XCTAssertTrue(promise.pointee.state.transitionToClaimed(from: .open))
        VowCore.settle(promise, vow_int(1), ownsProducer: false, thread)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 1))
        promise.releaseResolver(thread)
        drop(promise)
    }

    func testG4_settlingOnlyPutsInlineHandlersOnTheThreadsList() {
        let promise = openPromise()
        let journal = Journal()
        let links = (0..<3).map { _ in branch(promise, with: journal, note) }
        settleOnly(promise, vow_int(1))
        XCTAssertEqual(members(thread.pointee.agenda.ready), links)
        XCTAssertEqual(journal.entries, [])
        XCTAssertEqual(phase(of: promise), .delivering)
        XCTAssertEqual(promise.inlineLeft, 3)
        leave(thread)
        XCTAssertEqual(journal.entries, [1, 1, 1])
        XCTAssertEqual(phase(of: promise), .settled)
        XCTAssertEqual(promise.inlineLeft, 0)
        for link in links { drop(link) }
        drop(promise)
    }

    func testG2_inlineHandlersRunInTheOrderOfRegistration() {
        let promise = openPromise()
        let journal = Journal()
        let handlers: [Handler] = [
            { _, context in
                context!.object(Journal.self).write(0); return vow_none()
            },
            { _, context in
                context!.object(Journal.self).write(1); return vow_none()
            },
            { _, context in
                context!.object(Journal.self).write(2); return vow_none()
            },
            { _, context in
                context!.object(Journal.self).write(3); return vow_none()
            },
        ]
        let links = handlers.map { branch(promise, with: journal, $0) }
        resolveLast(promise, vow_none())
        XCTAssertEqual(journal.entries, [0, 1, 2, 3])
        for link in links { drop(link) }
        drop(promise)
    }

    func testG2_oneThatRegistersWhileDeliveringLinesUpBehindTheRest() {
        final class Fixture {
            let journal = Journal()
            var promise: RecordPointer!
            var late: RecordPointer?
        }
        let fixture = Fixture()
        fixture.promise = openPromise()
        let first = branch(fixture.promise, with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            fixture.journal.write(1)
            fixture.late = branch(fixture.promise, with: fixture.journal) { _, context in
                context!.object(Journal.self).write(3)
                return vow_none()
            }
            XCTAssertEqual(phase(of: fixture.promise), .delivering)
            return vow_none()
        }
        let second = branch(fixture.promise, with: fixture.journal) { _, context in
            context!.object(Journal.self).write(2)
            return vow_none()
        }
        resolveLast(fixture.promise, vow_none())
        XCTAssertEqual(fixture.journal.entries, [1, 2, 3])
        XCTAssertEqual(phase(of: fixture.promise), .settled)
        drop(first, second, fixture.late!, fixture.promise)
    }

    func testG2_handlersOfAPromiseSettledOnAnotherThreadKeepTheirOrder() {
        let promise = openPromise()
        let journal = Journal()
        var links: [RecordPointer] = []
        for _ in 0..<50 { links.append(branch(promise, with: journal, note)) }
        Worker { resolveLast(promise, vow_int(9)) }.join()
        XCTAssertEqual(journal.entries, [Int](repeating: 9, count: 50))
        XCTAssertEqual(journal.threads.count, 1)
        for link in links { drop(link) }
        drop(promise)
    }

    func testAnOutcomeThatNobodyHandlesPassesThroughTheChain() {
        let root = openPromise()
        let journal = Journal()
        var end = root
        for _ in 0..<10 { end = link(end, with: journal, note) }
        let cost = Cost.of { resolveLast(root, failure(6)) }
        XCTAssertEqual(cost.settled, 11)
        XCTAssertEqual(cost.done, 10)
        XCTAssertEqual(code(of: end.value), 6)
        XCTAssertEqual(journal.entries, [])
        dropObserved(end)
    }

    func testG5_aPromiseMayBeResolvedFromAHandlerOfAnother() {
        final class Fixture {
            var other: RecordPointer!
            let journal = Journal()
        }
        let fixture = Fixture()
        fixture.other = openPromise()
        let tail = branch(fixture.other, with: fixture.journal, note)
        let head = link(makePromise(of: vow_int(1), thread), with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            resolveLast(fixture.other, vow_int(2))
            // Not inside this handler.
            fixture.journal.write(1)
            return vow_none()
        }
        XCTAssertEqual(fixture.journal.entries, [1, 2])
        drop(head, tail, fixture.other)
    }
}
