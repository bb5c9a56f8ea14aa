// Tests the pool: everything runs once, a row stays on its worker, and waiting starves nobody.

import CVow
import XCTest

@testable import VowCore

/// Writes its thread down.
private let note: Handler = { input, context in
    context!.object(Journal.self).write(Int(input.as.integer))
    return vow_int(input.as.integer + 1)
}

final class PoolTests: CoreTest {
    func testEveryHandlerRunsOnceAndOnAWorker() {
        let journal = Journal()
        let promise = openPromise()
        let links = (0..<1000).map { _ in
            branch(promise, on: ownExecutors.pool, with: journal, note)
        }
        resolveLast(promise, vow_int(1))
        for link in links { expectSettled(link) }
        XCTAssertEqual(journal.entries.count, 1000)
        XCTAssertFalse(journal.threads.contains(pthread_self()))
        for link in links { drop(link) }
        drop(promise)
    }

    func testARowOfLinksStaysOnTheWorkerThatBeganIt() {
        var threads: [Int] = []
        for _ in 0..<20 {
            let journal = Journal()
            let root = openPromise()
            var end = root
            for _ in 0..<65 { end = link(end, on: ownExecutors.pool, with: journal, note) }
            resolveLast(root, vow_int(0))
            expectSettled(end)
            XCTAssertEqual(journal.entries, Array(0..<65))
            threads.append(journal.threads.count)
            drop(end)
        }
        // A worker that was sent before and comes late may take one of them.
        XCTAssertEqual(threads.min(), 1)
    }

    func testALongRowGoesOnInOrder() {
        let journal = Journal()
        let root = openPromise()
        var end = root
        for _ in 0..<1000 { end = link(end, on: ownExecutors.pool, with: journal, note) }
        resolveLast(root, vow_int(0))
        expectSettled(end)
        XCTAssertEqual(journal.entries, Array(0..<1000))
        drop(end)
    }

    func testOnlyAReactionThatStandsInTheQueueCanBeTakenOut() {
        withRecords(1) { XCTAssertFalse(takeFromPool($0[0])) }
    }

    func testG11_handlersThatAllWaitForOneThatComesLastEndAll() {
        final class Gate { let promise = openPromise() }
        let gate = Gate()
        let waiting = (0..<200).map { _ in
            branch(gate.promise, on: ownExecutors.inline) { input, _ in input }
        }
        // 200 workers block, and the last one opens the gate for all.
        let workers = (0..<200).map { _ in
            link(makePromise(of: vow_none(), thread), on: ownExecutors.pool, with: gate) {
                _, context in
                expectSettled(context!.object(Gate.self).promise)
                return vow_none()
            }
        }
        let opener = link(
            makePromise(of: vow_none(), thread), on: ownExecutors.pool, with: gate
        ) { _, context in
            resolveLast(context!.object(Gate.self).promise, vow_none())
            return vow_none()
        }
        for worker in workers + [opener] { expectSettled(worker) }
        for promise in workers + waiting + [opener, gate.promise] { drop(promise) }
    }

    func testG11_handlersThatWaitForWorkOfThePoolRunItThemselvesOrGetIt() {
        let outer = (0..<300).map { _ in
            link(makePromise(of: vow_none(), thread), on: ownExecutors.pool) { _, _ in
                let inner = link(
                    makePromise(of: vow_int(20), currentThread()), on: ownExecutors.pool
                ) {
                    input, _ in vow_int(input.as.integer + 1)
                }
                expectSettled(inner)
                let result = inner.value
                drop(inner)
                return result
            }
        }
        for promise in outer {
            expectSettled(promise)
            XCTAssertEqual(promise.value.as.integer, 21)
            drop(promise)
        }
    }

    func testG11_aWaitingHandlerDoesNotKeepWhatItsOwnCallsMadeReady() {
        final class Fixture { let other = openPromise() }
        let fixture = Fixture()
        let tail = branch(fixture.other, on: ownExecutors.pool) { _, _ in vow_int(2) }
        final class Waiter {
            let fixture: Fixture
            let tail: RecordPointer
            init(_ fixture: Fixture, _ tail: RecordPointer) {
                (self.fixture, self.tail) = (fixture, tail)
            }
        }
        let waiter = Waiter(fixture, tail)
        let head = link(makePromise(of: vow_none(), thread), on: ownExecutors.pool, with: waiter) {
            _, context in
            let waiter = context!.object(Waiter.self)
            resolveLast(waiter.fixture.other, vow_int(1))
            expectSettled(waiter.tail)
            return waiter.tail.value
        }
        expectSettled(head)
        XCTAssertEqual(head.value.as.integer, 2)
        drop(head, tail, fixture.other)
    }
}
