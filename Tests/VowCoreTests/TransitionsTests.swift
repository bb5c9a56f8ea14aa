// Tests every step of the state word's table from every phase it may start from, and that the others
// refuse.

import XCTest

@testable import VowCore

let allPhases: [Phase] = [
    .open, .running, .claimed, .following, .cancelled, .settling, .delivering, .settled,
]
let allSets: [PhaseSet] = [.ofReactions, .ofInlineReactions, .ofFollowers, .ofWaiters]

final class TransitionsTests: CoreTest {
    /// A state in a phase, with some members in its queue.
    private func state(_ phase: Phase, _ queue: [RecordPointer] = []) -> PromiseState {
        let state = PromiseState(phase)
        var head: RecordPointer?
        for member in queue {
            member.next = head
            head = member
        }
        _ = state.lock()
        state.unlock(phase, head)
        return state
    }

    private func check(
        _ state: borrowing PromiseState, _ phase: Phase, _ head: RecordPointer?,
        file: StaticString = #filePath, line: UInt = #line
    ) {
        let word = state.read()
        XCTAssertEqual(word.phase, phase, file: file, line: line)
        XCTAssertEqual(word.head, head, file: file, line: line)
        XCTAssertFalse(word.isLocked, file: file, line: line)
    }

    func testAStateBeginsInItsPhaseWithAnEmptyQueue() {
        for phase in allPhases { check(PromiseState(phase), phase, nil) }
    }

    func testArrows_toClaimed_fromOpenRunningFollowingOrCancelled() {
        withRecords(2) { records in
            for asked in [Phase.open, .running, .following, .cancelled] {
                for phase in allPhases {
                    let state = state(phase, records)
                    let claimed = state.transitionToClaimed(from: asked)
                    XCTAssertEqual(claimed, phase == asked, "asked \(asked), found \(phase)")
                    check(state, claimed ? .claimed : phase, records[1])
                }
            }
        }
    }

    func testG1_arrowToClaimed_isTakenOnce() {
        for phase in [Phase.open, .running, .following] {
            let state = state(phase)
            XCTAssertTrue(state.transitionToClaimed(from: phase))
            XCTAssertFalse(state.transitionToClaimed(from: phase))
        }
    }

    func testG1_arrowToClaimed_isTakenByOneOfManyThreads() {
        let winners = AtomicWord(0)
        for _ in 0..<200 {
            let state = PromiseState(.open)
            let before = winners.loadAcquire()
            onThreads(4) { _ in
                if state.transitionToClaimed(from: .open) { _ = winners.addOrdered(1) }
            }
            XCTAssertEqual(winners.loadAcquire(), before + 1)
        }
    }

    func testArrows_openRunningOrClaimed_toLocked_fromNoOtherPhase() {
        withRecords(2) { records in
            for asked in [Phase.open, .running, .claimed] {
                for phase in allPhases {
                    let state = state(phase, records)
                    let word = state.lock(whileIn: asked)
                    XCTAssertEqual(word != nil, phase == asked, "asked \(asked), found \(phase)")
                    guard let word else {
                        check(state, phase, records[1])
                        continue
                    }
                    XCTAssertEqual(word.phase, phase)
                    XCTAssertEqual(word.head, records[1])
                    XCTAssertTrue(state.read().isLocked)
                    state.unlock(word.phase, word.head)
                    check(state, phase, records[1])
                }
            }
        }
    }

    func testArrows_openRunningOrClaimed_toSettled_whereNobodyWaits() {
        for phase in [Phase.open, .running, .claimed] {
            let state = state(phase)
            XCTAssertNil(state.lock(whileIn: phase)!.head)
            state.unlock(.settled, nil)
            check(state, .settled, nil)
        }
    }

    func testArrows_openRunningOrClaimed_toSettling_takeTheQueueNewestFirst() {
        withRecords(3) { records in
            for phase in [Phase.open, .running, .claimed] {
                let state = state(phase, records)
                XCTAssertEqual(state.lock(whileIn: phase)!.head, records[2])
                state.unlock(.settling, nil)
                check(state, .settling, nil)
                XCTAssertEqual(records[2].next, records[1])
                XCTAssertEqual(records[1].next, records[0])
                XCTAssertNil(records[0].next)
            }
        }
    }

    func testArrow_openToRunning_isTheLockedStepAndKeepsTheQueue() {
        withRecords(1) { records in
            for queue in [[], records] {
                let state = state(.open, queue)
                let word = state.lock(whileIn: .open)!
                state.unlock(.running, word.head)
                check(state, .running, queue.last)
                XCTAssertNil(state.lock(whileIn: .open))
                XCTAssertTrue(state.transitionToClaimed(from: .running))
                check(state, .claimed, queue.last)
            }
        }
    }

    func testArrow_openToRunning_byAStore_whereNobodyElseHasTheReaction() {
        let state = state(.open)
        state.run()
        check(state, .running, nil)
        XCTAssertNil(state.lock(whileIn: .open))
        XCTAssertTrue(state.transitionToClaimed(from: .running))
    }

    func testG2_arrows_openToDelivering_runningToDelivering_takeTheOnlyMember() {
        withRecords(2) { records in
            for phase in [Phase.open, .running] {
                let state = state(phase, [records[0]])
                XCTAssertEqual(state.lock(whileIn: phase)?.head, records[0])
                state.unlock(.delivering, nil)
                check(state, .delivering, nil)
                XCTAssertNil(state.enlist(records[1], while: .ofInlineReactions))
                XCTAssertEqual(state.transitionAfterDelivery(), records[1])
                XCTAssertNil(state.transitionAfterDelivery())
                check(state, .settled, nil)
            }
        }
    }

    func testArrows_openToSettled_runningToSettled_takeTheOnlyMember() {
        withRecords(1) { records in
            for phase in [Phase.open, .running] {
                let state = state(phase, records)
                XCTAssertEqual(state.lock(whileIn: phase)?.head, records[0])
                state.unlock(.settled, nil)
                check(state, .settled, nil)
            }
        }
    }

    func testArrows_openToSettled_deliveringToSettled_byAStore_whereNobodyElseIsThere() {
        for phase in [Phase.open, .delivering] {
            let state = state(phase)
            state.close()
            check(state, .settled, nil)
            XCTAssertNil(state.lock(whileIn: phase))
            XCTAssertFalse(state.transitionToClaimed(from: phase))
        }
    }

    func testArrow_claimedToCancelled_keepsTheQueue_andIsClaimedAgain() {
        withRecords(1) { records in
            for queue in [[], records] {
                let state = state(.claimed, queue)
                state.transitionToCancelled()
                check(state, .cancelled, queue.last)
                XCTAssertFalse(state.transitionToClaimed(from: .open))
                XCTAssertTrue(state.transitionToClaimed(from: .cancelled))
            }
        }
    }

    func testArrow_openToCancelled_byAStore_whereNobodyElseHasTheReaction() {
        let state = state(.open)
        state.beginCancelled()
        check(state, .cancelled, nil)
    }

    func testArrows_openToCancelled_runningToCancelled_keepTheQueue() {
        withRecords(1) { records in
            for phase in [Phase.open, .running] {
                let state = state(phase, records)
                let word = state.lock()
                state.unlock(.cancelled, word.head)
                check(state, .cancelled, records[0])
                XCTAssertNil(state.lock(whileIn: phase))
            }
        }
    }

    func testArrows_ofAnObserver_settledToOpen_claimedToSettled() {
        let state = state(.settled)
        XCTAssertFalse(state.transitionToClaimed(from: .open))
        state.reopen()
        check(state, .open, nil)
        XCTAssertTrue(state.transitionToClaimed(from: .open))
        state.close()
        check(state, .settled, nil)
        XCTAssertFalse(state.transitionToClaimed(from: .open))
    }

    func testG1_G12_ofClaimingAndLockingOneOfManyThreadsWins() {
        let winners = AtomicWord(0)
        for round in UInt64(1)...200 {
            let state = PromiseState(.open)
            onThreads(4) { index in
                if index % 2 == 0 {
                    if state.transitionToClaimed(from: .open) { _ = winners.addOrdered(1) }
                } else if state.lock(whileIn: .open) != nil {
                    _ = winners.addOrdered(1)
                    state.unlock(.settled, nil)
                }
            }
            XCTAssertEqual(winners.loadAcquire(), round)
        }
    }

    func testArrow_claimedToFollowing_keepsTheQueue() {
        withRecords(1) { records in
            for queue in [[], records] {
                let state = state(.claimed, queue)
                state.transitionToFollowing()
                check(state, .following, queue.last)
            }
        }
    }

    func testArrows_settlingToSettled_settlingToDelivering_whereNoMoreCame() {
        for inlineAreLeft in [false, true] {
            let state = state(.settling)
            XCTAssertNil(state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft))
            check(state, inlineAreLeft ? .delivering : .settled, nil)
        }
    }

    func testG2_arrow_settlingToSettling_takesThoseWhoCame() {
        withRecords(2) { records in
            for inlineAreLeft in [false, true] {
                let state = state(.settling, records)
                XCTAssertEqual(
                    state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft), records[1])
                check(state, .settling, nil)
            }
        }
    }

    func testG2_arrows_deliveringToDelivering_deliveringToSettled() {
        withRecords(1) { records in
            let state = state(.delivering, records)
            XCTAssertEqual(state.transitionAfterDelivery(), records[0])
            check(state, .delivering, nil)
            XCTAssertNil(state.transitionAfterDelivery())
            check(state, .settled, nil)
        }
    }

    func testArrow_settledToDelivering_fromNoOtherPhase() {
        for phase in allPhases {
            let state = state(phase)
            let began = state.transitionToDelivering()
            XCTAssertEqual(began, phase == .settled, "\(phase)")
            check(state, began ? .delivering : phase, nil)
            XCTAssertFalse(state.transitionToDelivering())
        }
    }

    func testAMemberIsEnlistedExactlyWhileItsSetSays() {
        withRecords(2) { records in
            for phase in allPhases {
                for set in allSets {
                    let state = state(phase, [records[0]])
                    records[1].next = nil
                    let obstacle = state.enlist(records[1], while: set)
                    let accepts = set.contains(StateWord(phase, nil))
                    XCTAssertEqual(obstacle == nil, accepts)
                    if let obstacle {
                        XCTAssertEqual(obstacle.phase, phase)
                        XCTAssertEqual(obstacle.head, records[0])
                        XCTAssertNil(records[1].next)
                        check(state, phase, records[0])
                    } else {
                        XCTAssertEqual(records[1].next, records[0])
                        check(state, phase, records[1])
                    }
                }
            }
        }
    }

    func testTheLockKeepsPhaseAndQueue() {
        withRecords(1) { records in
            for phase in allPhases {
                let state = state(phase, records)
                let found = state.lock()
                XCTAssertEqual(found.phase, phase)
                XCTAssertEqual(found.head, records[0])
                XCTAssertFalse(found.isLocked)
                XCTAssertTrue(state.read().isLocked)
                XCTAssertEqual(state.read().phase, phase)
                XCTAssertEqual(state.read().head, records[0])
                state.unlock(phase, found.head)
                check(state, phase, records[0])
            }
        }
    }

    func testUnlockingInstallsAnotherQueue() {
        withRecords(2) { records in
            let state = state(.open, records)
            _ = state.lock()
            state.unlock(.open, records[0])
            check(state, .open, records[0])
        }
    }

    func testEveryOtherStepWaitsForTheLock() {
        withRecords(1) { records in
            let state = state(.open)
            let word = state.lock()
            let begun = Signal()
            let isOver = AtomicWord(0)
            withoutActuallyEscaping({ [records] in
                begun.send()
                XCTAssertNil(state.enlist(records[0], while: .ofReactions))
                XCTAssertTrue(isOver.loadAcquire() == 1, "enlisted during the lock")
            }) { body in
                let worker = Worker(body)
                begun.receive()
                usleep(2000)
                XCTAssertNil(state.read().head)
                isOver.storeRelease(1)
                state.unlock(word.phase, word.head)
                worker.join()
            }
            check(state, .open, records[0])
        }
    }

    func testG2_manyThreadsEnlistWithoutLosingAMember() {
        withRecords(400) { records in
            let state = PromiseState(.open)
            onThreads(4) { part in
                for index in 0..<100 {
                    XCTAssertNil(
                        state.enlist(records[part * 100 + index], while: .ofReactions))
                    if index % 10 == 0 {
                        let word = state.lock()
                        state.unlock(word.phase, word.head)
                    }
                }
            }
            let queued = members(SlotList(reversing: state.read().head))
            XCTAssertEqual(Set(queued), Set(records))
            XCTAssertEqual(queued.count, 400)
            for part in 0..<4 {
                let mine = records[part * 100..<part * 100 + 100]
                XCTAssertEqual(queued.filter(mine.contains), Array(mine), "part \(part)")
            }
        }
    }
}
