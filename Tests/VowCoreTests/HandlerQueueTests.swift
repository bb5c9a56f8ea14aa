// Tests the member list against an array that does the same, over all short lists.

import XCTest

@testable import VowCore

final class HandlerQueueTests: CoreTest {
    private let longest = 5

    /// A list of these members, made by appending.
    private func list(_ records: some Sequence<RecordPointer>) -> MemberList {
        var list = MemberList()
        for record in records { list.append(record) }
        return list
    }

    private func check(
        _ list: MemberList, _ model: [RecordPointer], file: StaticString = #filePath,
        line: UInt = #line
    ) {
        XCTAssertEqual(members(list), model, file: file, line: line)
        XCTAssertEqual(list.first, model.first, file: file, line: line)
        XCTAssertEqual(list.last, model.last, file: file, line: line)
        XCTAssertEqual(list.isEmpty, model.isEmpty, file: file, line: line)
    }

    func testANewListIsEmpty() {
        var list = MemberList()
        check(list, [])
        XCTAssertNil(list.popFirst())
        check(list, [])
    }

    func testEveryMixOfAppendPrependAndPopMatchesAnArray() {
        withRecords(6) { records in
            // Each number is a sequence of six steps in base 3.
            for program in 0..<729 {
                var list = MemberList()
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
    }

    func testAppendingAListMatchesAnArrayForAllLengths() {
        withRecords(2 * longest) { records in
            for first in 0...longest {
                for second in 0...longest {
                    var front = list(records[..<first])
                    let back = list(records[first..<first + second])
                    front.append(back)
                    check(front, Array(records[..<(first + second)]))
                }
            }
        }
    }

    func testAListThatGotAnotherGoesOnBehindIt() {
        withRecords(3) { records in
            var front = list(records[..<1])
            front.append(list(records[1..<2]))
            front.append(records[2])
            check(front, records)
        }
    }

    func testReversingTurnsAStackIntoTheOrderOfArrival() {
        withRecords(longest) { records in
            for length in 0...longest {
                var newest: RecordPointer?
                for record in records[..<length] {
                    record.next = newest
                    newest = record
                }
                check(MemberList(reversing: newest), Array(records[..<length]))
            }
        }
    }

    func testRemovingMatchesAnArrayForEveryLengthPlaceAndLimit() {
        withRecords(longest + 1) { records in
            for length in 0...longest {
                for place in 0...longest {
                    for limit in 0...longest + 1 {
                        var list = list(records[..<length])
                        var model = Array(records[..<length])
                        let isReached = place < length && place < limit
                        XCTAssertEqual(list.remove(records[place], within: limit), isReached)
                        if isReached { model.remove(at: place) }
                        check(list, model)
                    }
                }
            }
        }
    }

    func testAfterRemovingTheLastTheListCanGrow() {
        withRecords(3) { records in
            var list = list(records[..<2])
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
