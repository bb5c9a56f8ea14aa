// Tests both lists of members against an array that does the same, over all short lists.

import XCTest

@testable import VowCore

/// What the two kinds of lists have in common.
private protocol Queue {
    init()
    init(reversing newest: RecordPointer?)
    var first: RecordPointer? { get }
    var isEmpty: Bool { get }
    mutating func append(_ member: RecordPointer)
    mutating func append(_ other: Self)
    mutating func prepend(_ member: RecordPointer)
    mutating func popFirst() -> RecordPointer?
    static func members(of list: Self) -> [RecordPointer]
    /// Links a member of a stack (newest first).
    static func stack(_ member: RecordPointer, on newest: RecordPointer?)
}

extension MemberList: Queue {
    fileprivate static func members(of list: Self) -> [RecordPointer] { VowCoreTests.members(list) }
    fileprivate static func stack(_ member: RecordPointer, on newest: RecordPointer?) {
        member.lane = newest
    }
}

extension SlotList: Queue {
    fileprivate static func members(of list: Self) -> [RecordPointer] { VowCoreTests.members(list) }
    fileprivate static func stack(_ member: RecordPointer, on newest: RecordPointer?) {
        member.next = newest
    }
}

final class HandlerQueueTests: CoreTest {
    private let longest = 5

    /// A list of these members, made by appending.
    private func list<List: Queue>(
        _: List.Type, _ records: some Sequence<RecordPointer>
    ) -> List {
        var list = List()
        for record in records { list.append(record) }
        return list
    }

    private func check<List: Queue>(
        _ list: List, _ model: [RecordPointer], file: StaticString = #filePath, line: UInt = #line
    ) {
        XCTAssertEqual(List.members(of: list), model, file: file, line: line)
        XCTAssertEqual(list.first, model.first, file: file, line: line)
        XCTAssertEqual(list.isEmpty, model.isEmpty, file: file, line: line)
    }

    private func checkANewListIsEmpty<List: Queue>(_: List.Type) {
        var list = List()
        check(list, [])
        XCTAssertNil(list.popFirst())
        check(list, [])
    }

    func testANewListIsEmpty() {
        checkANewListIsEmpty(MemberList.self)
        checkANewListIsEmpty(SlotList.self)
    }

    private func checkEveryMix<List: Queue>(_: List.Type, _ records: [RecordPointer]) {
        // Each number is a sequence of six steps in base 3.
        for program in 0..<729 {
            var list = List()
            var model: [RecordPointer] = []
            var rest = program
            for step in 0..<6 {
                switch rest % 3 {
                case 0:
                    list.append(records[step])
                    model.append(records[step])
                case 1:
                    list.prepend(records[step])
                    model.insert(records[step], at: 0)
                default:
                    XCTAssertEqual(list.popFirst(), model.isEmpty ? nil : model.removeFirst())
                }
                rest /= 3
                check(list, model)
            }
        }
    }

    func testEveryMixOfAppendPrependAndPopMatchesAnArray() {
        withLinks(6) { checkEveryMix(MemberList.self, $0) }
        withRecords(6) { checkEveryMix(SlotList.self, $0) }
    }

    private func checkAppendingLists<List: Queue>(_: List.Type, _ records: [RecordPointer]) {
        for first in 0...longest {
            for second in 0...longest {
                var front = list(List.self, records[..<first])
                let back = list(List.self, records[first..<first + second])
                front.append(back)
                check(front, Array(records[..<(first + second)]))
            }
        }
    }

    func testAppendingAListMatchesAnArrayForAllLengths() {
        withLinks(2 * longest) { checkAppendingLists(MemberList.self, $0) }
        withRecords(2 * longest) { checkAppendingLists(SlotList.self, $0) }
    }

    private func checkGoingOn<List: Queue>(_: List.Type, _ records: [RecordPointer]) {
        var front = list(List.self, records[..<1])
        front.append(list(List.self, records[1..<2]))
        front.append(records[2])
        check(front, records)
    }

    func testAListThatGotAnotherGoesOnBehindIt() {
        withLinks(3) { checkGoingOn(MemberList.self, $0) }
        withRecords(3) { checkGoingOn(SlotList.self, $0) }
    }

    private func checkReversing<List: Queue>(_: List.Type, _ records: [RecordPointer]) {
        for length in 0...longest {
            var newest: RecordPointer?
            for record in records[..<length] {
                List.stack(record, on: newest)
                newest = record
            }
            check(List(reversing: newest), Array(records[..<length]))
        }
    }

    func testReversingTurnsAStackIntoTheOrderOfArrival() {
        withLinks(longest) { checkReversing(MemberList.self, $0) }
        withRecords(longest) { checkReversing(SlotList.self, $0) }
    }

    func testTheTwoListsUseDifferentLinks() {
        withLinks(3) { links in
            let slots = list(SlotList.self, links)
            let lanes = list(MemberList.self, links.reversed())
            check(slots, links)
            check(lanes, links.reversed())
        }
    }

    func testRemovingMatchesAnArrayForEveryLengthPlaceAndLimit() {
        withLinks(longest + 1) { records in
            for length in 0...longest {
                for place in 0...longest {
                    for limit in 0...longest + 1 {
                        var list = list(MemberList.self, records[..<length])
                        var model = Array(records[..<length])
                        let isReached = place < length && place < limit
                        XCTAssertEqual(list.remove(records[place], within: limit), isReached)
                        if isReached { model.remove(at: place) }
                        check(list, model)
                        XCTAssertEqual(list.last, model.last)
                    }
                }
            }
        }
    }

    func testAfterRemovingTheLastTheListCanGrow() {
        withLinks(3) { records in
            var list = list(MemberList.self, records[..<2])
            XCTAssertTrue(list.remove(records[1], within: 2))
            list.append(records[2])
            check(list, [records[0], records[2]])
            XCTAssertTrue(list.remove(records[0], within: 1))
            XCTAssertTrue(list.remove(records[2], within: 1))
            list.append(records[1])
            check(list, [records[1]])
        }
    }
}
