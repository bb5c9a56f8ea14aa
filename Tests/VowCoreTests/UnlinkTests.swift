// Tests taking members out of a queue against an array that does the same: links, promises that follow without a
// lane, observers and waiting threads mixed, and a million in any order; and that nobody holds the lock for long.

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
        let isFound = unlink(member, outOf: state)
        let place = model.firstIndex(of: member)
        XCTAssertEqual(isFound, place != nil)
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
        XCTAssertEqual(stack(from: state.lock(whileIn: .claimed)!.head), model)
        state.unlock(.settling, nil)
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
        withLinks(manyOf(200_000, full: 1_000_000)) { checkLinear($0, order) }
        withRecords(manyOf(200_000, full: 1_000_000)) { followers in
            checkLinear(followers, order)
            XCTAssert(followers.allSatisfy { $0.inlineLeft == 0 })
        }
    }

    private func checkLinear(
        _ links: [RecordPointer], _ order: ([RecordPointer]) -> [RecordPointer]
    ) {
        let state = PromiseState(.open)
        for link in links { _ = state.enlist(link, while: .ofReactions) }
        let end = Deadline.after(120_000_000_000)
        for (index, link) in order(links).enumerated() {
            let isFound = unlink(link, outOf: state)
            if !isFound || (index % 1000 == 0 && end.hasPassed) {
                XCTFail(isFound ? "too slow at \(index)" : "lost number \(index)")
                return
            }
        }
        XCTAssertNil(state.read().head)
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
                if !unlink(links[index], outOf: state) { XCTFail("lost number \(index)"); return }
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
                    XCTAssertTrue(unlink(member, outOf: state))
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

    // MARK: In pieces

    func testG12_oneHoldOfTheLockFillsInAPieceOfTheWaysBack() {
        withRecords(10_000) { followers in
            let state = PromiseState(.open)
            for follower in followers { _ = state.enlist(follower, while: .ofFollowers) }
            var look = Look()
            var holds = 0
            var result = Unlinked.deeper
            while result == .deeper {
                let word = state.lock()
                let rest = unlink(followers[2000], from: word, &look)
                state.unlock(word.phase, rest.head)
                result = rest.result
                holds += 1
                let known = followers.filter { $0.wayBack != nil }.count
                XCTAssertEqual(known, min(holds * Look.piece, 7999))
            }
            XCTAssertEqual(holds, 8000 / Look.piece + 1)
            XCTAssertEqual(result, .out)
            // As far again: all that are left.
            holds = 0
            var goesOn = true
            while goesOn {
                let word = state.lock()
                goesOn = fillFurther(&look, from: word.head)
                state.unlock(word.phase, word.head)
                holds += 1
            }
            XCTAssertEqual(holds, 2000 / Look.piece + 1)
            XCTAssertEqual(followers.filter { $0.wayBack == nil }, [followers[2000]])
        }
    }

    func testAMemberThatIsNotThereIsLookedForInPiecesToTheEnd() {
        withRecords(1001) { followers in
            let state = PromiseState(.open)
            for follower in followers[..<1000] {
                _ = state.enlist(follower, while: .ofFollowers)
            }
            XCTAssertFalse(unlink(followers[1000], outOf: state))
            XCTAssertEqual(
                members(SlotList(reversing: state.read().head)), Array(followers[..<1000]))
        }
    }

    func testG12_manyThreadsLookFarDownAtOnceWhileOthersEnter() {
        withRecords(20_000) { followers in
            withLinks(20_000) { links in
                let state = PromiseState(.open)
                for (follower, link) in zip(followers, links) {
                    _ = state.enlist(follower, while: .ofFollowers)
                    if link != links.last { _ = state.enlist(link, while: .ofReactions) }
                }
                // Neighbours are taken out by different threads, the oldest first, the newest first, and by chance.
                onThreads(4) { part in
                    var mine = Array(stride(from: part / 2, to: 19_998, by: 2)).map {
                        part % 2 == 0 ? followers[$0] : links[$0]
                    }
                    var dice = Dice(UInt64(part))
                    if part == 1 { mine.reverse() }
                    if part == 2 { mine.shuffle(using: &dice) }
                    for member in mine {
                        XCTAssertTrue(unlink(member, outOf: state))
                        if member.pointee.shape.hasLane {
                            XCTAssertNil(state.enlist(member, while: .ofReactions))
                            XCTAssertTrue(unlink(member, outOf: state))
                        }
                    }
                }
                XCTAssertEqual(
                    members(SlotList(reversing: state.read().head)),
                    [followers[19_998], links[19_998], followers[19_999]])
            }
        }
    }

    // MARK: Without a lane

    func testAWayBackThatDoesNotFitIsNotKept() {
        withRecords(2) { records in
            let (member, far) = (records[0], RecordPointer(bitPattern: 0x0001_0000_0000_0010)!)
            member.next = records[1]
            member.wayBack = far
            XCTAssertNil(member.wayBack)
            XCTAssertEqual(member.next, records[1])
            member.next = far
            member.wayBack = records[1]
            XCTAssertNil(member.wayBack)
            XCTAssertEqual(member.next, far)
            XCTAssertEqual(member.inlineLeft, 0)
        }
    }

    func testAWayBackIsKeptBesideTheNextMemberUntilItIsForgotten() {
        let high = RecordPointer(bitPattern: 0x0000_ffff_ffff_fff0)
        let low = RecordPointer(bitPattern: 0x10)
        withRecords(1) { records in
            let member = records[0]
            for next in [nil, high, low] {
                for before in [high, low] {
                    member.next = next
                    member.wayBack = before
                    XCTAssertEqual(member.next, next)
                    XCTAssertEqual(member.wayBack, before)
                    XCTAssertFalse(member.isOut)
                    member.relink(to: low)
                    XCTAssertEqual(member.next, low)
                    XCTAssertEqual(member.wayBack, before)
                    member.forgetPlace()
                    XCTAssertEqual(member.next, low)
                    XCTAssertNil(member.wayBack)
                    XCTAssertEqual(member.inlineLeft, 0)
                }
            }
        }
    }

    func testG3_aFollowerThatIsTakenByItsSettlingHasNoWayBackAnyMore() {
        withRecords(3) { followers in
            let state = PromiseState(.open)
            for follower in followers { _ = state.enlist(follower, while: .ofFollowers) }
            XCTAssertTrue(unlink(followers[0], outOf: state))
            XCTAssertNotNil(followers[1].wayBack)
            XCTAssertTrue(state.transitionToClaimed(from: .open))
            let newest = state.lock(whileIn: .claimed)!.head!
            state.unlock(.settling, nil)
            let taken = SlotList(reversing: newest)
            XCTAssertEqual(members(taken), Array(followers[1...]))
            XCTAssert(followers.allSatisfy { $0.wayBack == nil && $0.inlineLeft == 0 })
        }
    }
}
