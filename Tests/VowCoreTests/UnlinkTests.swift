// Tests taking members out of a queue against an array that does the same: links, promises that follow without a
// lane, observers and waiting threads mixed, and a million in any order.

import XCTest

@testable import VowCore

/// The same numbers in every run.
private struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// A queue and an array that says what must be in it, newest first.
private struct Modelled: ~Copyable {
    let state = PromiseState(.open)
    private(set) var model: [RecordPointer] = []

    mutating func enlist(_ member: RecordPointer) {
        XCTAssertNil(state.enlist(member, while: .ofReactions))
        model.insert(member, at: 0)
    }

    mutating func take(out member: RecordPointer) {
        let word = state.lock()
        let rest = unlink(member, from: word)
        state.unlock(word.phase, rest.head)
        let place = model.firstIndex(of: member)
        XCTAssertEqual(rest.found, place != nil)
        if let place { model.remove(at: place) }
        check()
    }

    /// As a thread that moves followers takes them: under the lock.
    mutating func empty() {
        let word = state.lock()
        for member in stack(from: word.head) { member.forgetPlace() }
        state.unlock(word.phase, nil)
        model = []
    }

    /// As settling takes them. From here on the queue holds late ones.
    mutating func settle() {
        XCTAssertTrue(state.transitionToClaimed(from: .open))
        let newest = state.transitionToSettling {}
        XCTAssertEqual(stack(from: newest), model)
        model = []
    }

    func check(file: StaticString = #filePath, line: UInt = #line) {
        XCTAssertEqual(stack(from: state.read().head), model, file: file, line: line)
        XCTAssertFalse(state.read().isLocked, file: file, line: line)
    }

    private func stack(from newest: RecordPointer?) -> [RecordPointer] {
        var found: [RecordPointer] = []
        var member = newest
        while let current = member {
            found.append(current)
            member = current.next
        }
        return found
    }
}

final class UnlinkTests: CoreTest {
    /// Links, followers without a lane, waiting threads and observers, so many of each.
    private func withMembers(_ count: Int, _ body: ([RecordPointer]) -> Void) {
        withLinks(count) { links in
            withRecords(count) { followers in
                let size = Observer.size
                let memory = UnsafeMutableRawPointer.allocate(
                    byteCount: 2 * count * 64, alignment: 16)
                defer { memory.deallocate() }
                XCTAssertLessThanOrEqual(size, 64)
                let others = (0..<2 * count).map { index in
                    let record = (memory + index * 64).bindMemory(to: Record.self, capacity: 1)
                    let shape: Shape = index % 2 == 0 ? .waiter : .observer
                    record.initialize(to: Record(.open, shape: shape, promises: 0, producers: 0))
                    return record
                }
                body(links + followers + others)
            }
        }
    }

    func testAMemberHasALaneOrNot() {
        withMembers(1) { members in
            XCTAssertEqual(members.map { $0.pointee.shape.hasLane }, [true, false, false, true])
        }
    }

    func testEachPlaceOfEveryShortQueueCanBeTakenOut() {
        withMembers(2) { members in
            for length in 1...5 {
                for place in 0..<length {
                    for turn in 0..<members.count {
                        var queue = Modelled()
                        let chosen = (0..<length).map { members[($0 + turn) % members.count] }
                        for member in chosen { queue.enlist(member) }
                        queue.take(out: chosen[place])
                        queue.take(out: chosen[place])
                    }
                }
            }
        }
    }

    func testEveryOrderOfTakingOutFourMixedMembersEmptiesTheQueue() {
        withMembers(1) { members in
            for order in permutations(of: members) {
                for entry in permutations(of: members) {
                    var queue = Modelled()
                    for member in entry { queue.enlist(member) }
                    for member in order { queue.take(out: member) }
                    XCTAssertNil(queue.state.read().head)
                }
            }
        }
    }

    func testAMemberThatWasTakenOutCanEnterAgain() {
        withMembers(1) { members in
            var queue = Modelled()
            for _ in 0..<3 {
                for member in members { queue.enlist(member) }
                for member in members { queue.take(out: member) }
            }
        }
    }

    func testAMemberOfAnotherQueueIsNotFound() {
        withMembers(2) { members in
            var queue = Modelled()
            for member in members { queue.enlist(member) }
            withMembers(1) { others in
                for other in others {
                    other.next = nil
                    other.forgetPlace()
                    queue.take(out: other)
                }
            }
        }
    }

    func testRandomSequencesMatchAnArray() {
        withMembers(6) { members in
            for seed in UInt64(1)...400 {
                // Those that settling took in the round before have lanes still.
                for member in members { member.forgetPlace() }
                var dice = Dice(seed)
                var queue = Modelled()
                var hasSettled = false
                for _ in 0..<60 {
                    let member = members.randomElement(using: &dice)!
                    let isInside = queue.model.contains(member)
                    switch Int.random(in: 0..<20, using: &dice) {
                    case 0:
                        queue.empty()
                    case 1 where !hasSettled && !queue.model.isEmpty:
                        queue.settle()
                        hasSettled = true
                    case 2..<11 where !isInside:
                        queue.enlist(member)
                    // A lane of one that settling took is a list's by then.
                    default:
                        if isInside || !hasSettled { queue.take(out: member) }
                    }
                    queue.check()
                }
            }
        }
    }

    func testAfterSettlingOnlyWhoCameLateIsFound() {
        withMembers(2) { members in
            var queue = Modelled()
            for member in members { queue.enlist(member) }
            // Fills the ways back.
            queue.take(out: members[0])
            queue.settle()
            for member in members { queue.take(out: member) }
            for member in members { queue.enlist(member) }
            for member in members.reversed() { queue.take(out: member) }
            XCTAssertNil(queue.state.read().head)
        }
    }

    // MARK: Very many

    /// Each step takes constant time on average, so this ends in seconds; else in hours.
    private func checkLinear(_ order: ([RecordPointer]) -> [RecordPointer]) {
        withLinks(manyOf(200_000, full: 1_000_000)) { links in
            let state = PromiseState(.open)
            for link in links { _ = state.enlist(link, while: .ofReactions) }
            let end = Deadline.after(120_000_000_000)
            for (index, link) in order(links).enumerated() {
                let word = state.lock()
                let rest = unlink(link, from: word)
                state.unlock(word.phase, rest.head)
                if !rest.found || (index % 1000 == 0 && end.hasPassed) {
                    XCTFail(rest.found ? "too slow at \(index)" : "lost number \(index)")
                    return
                }
            }
            XCTAssertNil(state.read().head)
        }
    }

    func testVeryManyAreTakenOutOldestFirstInLinearTime() { checkLinear { $0 } }

    func testVeryManyAreTakenOutNewestFirstInLinearTime() { checkLinear { $0.reversed() } }

    func testVeryManyAreTakenOutInRandomOrderInLinearTime() {
        checkLinear { links in
            var dice = Dice(7)
            return links.shuffled(using: &dice)
        }
    }

    func testEnteringAndTakingOutTheOldestInTurnIsLinear() {
        withLinks(200_000) { links in
            let state = PromiseState(.open)
            let half = links.count / 2
            for link in links[..<half] { _ = state.enlist(link, while: .ofReactions) }
            for index in 0..<half {
                _ = state.enlist(links[half + index], while: .ofReactions)
                let word = state.lock()
                let rest = unlink(links[index], from: word)
                state.unlock(word.phase, rest.head)
                if !rest.found { XCTFail("lost number \(index)"); return }
            }
            XCTAssertEqual(members(SlotList(reversing: state.read().head)).count, half)
        }
    }

    func testG12_manyThreadsEnlistAndTakeOutWithoutLosingAMember() {
        withLinks(4000) { links in
            let state = PromiseState(.open)
            onThreads(4) { part in
                let mine = links[part * 1000..<part * 1000 + 1000]
                for member in mine { XCTAssertNil(state.enlist(member, while: .ofReactions)) }
                for (index, member) in mine.enumerated() where index % 3 != 0 {
                    let word = state.lock()
                    let rest = unlink(member, from: word)
                    state.unlock(word.phase, rest.head)
                    XCTAssertTrue(rest.found)
                }
            }
            let left = members(SlotList(reversing: state.read().head))
            for part in 0..<4 {
                let mine = Array(links[part * 1000..<part * 1000 + 1000])
                let kept = mine.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
                XCTAssertEqual(left.filter(Set(mine).contains), kept, "part \(part)")
            }
        }
    }
}
