// Tests the readings of the state word, and which phases accept which members.

import XCTest

@testable import VowCore

let allPhases: [Phase] = [
    .open, .running, .claimed, .following, .cancelled, .settling, .delivering, .settled,
]

final class StateWordTests: CoreTest {
    func testAWordKeepsItsPhaseAndItsQueueApart() {
        withRecords(1) { records in
            for phase in allPhases {
                let empty = StateWord(phase, nil)
                XCTAssertEqual(empty.phase, phase)
                XCTAssertNil(empty.head)
                XCTAssertFalse(empty.isLocked)
                let filled = StateWord(phase, records[0])
                XCTAssertEqual(filled.phase, phase)
                XCTAssertEqual(filled.head, records[0])
                XCTAssertFalse(filled.isLocked)
            }
        }
    }

    func testTheLockBitChangesNeitherPhaseNorQueue() {
        withRecords(1) { records in
            for phase in allPhases {
                let word = StateWord(bits: StateWord(phase, records[0]).bits | StateWord.lockBit)
                XCTAssertTrue(word.isLocked)
                XCTAssertEqual(word.phase, phase)
                XCTAssertEqual(word.head, records[0])
            }
        }
    }

    func testTheThreePartsCoverTheWordWithoutOverlap() {
        XCTAssertEqual(StateWord.phaseMask | StateWord.lockBit | StateWord.queueMask, UInt64.max)
        XCTAssertEqual(StateWord.phaseMask & StateWord.lockBit, 0)
        XCTAssertEqual(StateWord.phaseMask & StateWord.queueMask, 0)
        XCTAssertEqual(StateWord.lockBit & StateWord.queueMask, 0)
    }

    func testThePhasesHaveTheNumbersOfTheTable() {
        XCTAssertEqual(allPhases.map(\.rawValue), Array(0...7))
    }

    func testAValueCanBeReadFromSettlingOn() {
        let withValue = allPhases.filter { StateWord($0, nil).hasValue }
        XCTAssertEqual(withValue, [.settling, .delivering, .settled])
        let locked = StateWord(bits: StateWord(.settling, nil).bits | StateWord.lockBit)
        XCTAssertTrue(locked.hasValue)
    }

    func testEachSetContainsExactlyItsPhases() {
        func accepted(_ phases: PhaseSet) -> [Phase] {
            allPhases.filter { phases.contains(StateWord($0, nil)) }
        }
        XCTAssertEqual(
            accepted(.ofReactions), [.open, .running, .claimed, .following, .cancelled, .settling])
        XCTAssertEqual(
            accepted(.ofInlineReactions),
            [.open, .running, .claimed, .following, .cancelled, .settling, .delivering])
        XCTAssertEqual(accepted(.ofFollowers), [.open, .running, .claimed, .cancelled])
        XCTAssertEqual(
            accepted(.ofWaiters), [.open, .running, .claimed, .following, .cancelled])
    }

    func testASetLooksAtThePhaseAlone() {
        withRecords(1) { records in
            for phase in allPhases {
                let bare = StateWord(phase, nil)
                let full = StateWord(bits: StateWord(phase, records[0]).bits | StateWord.lockBit)
                for set in allSets { XCTAssertEqual(set.contains(bare), set.contains(full)) }
            }
        }
    }
}

let allSets: [PhaseSet] = [.ofReactions, .ofInlineReactions, .ofFollowers, .ofWaiters]
