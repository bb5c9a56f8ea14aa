// Tests the pairing heap of timers: order, removal from anywhere, constant stack.

import XCTest

@testable import VowCore

/// Timers in memory that stays where it is.
private final class Timers {
    let nodes: UnsafeMutablePointer<TimerNode>
    let count: Int
    var heap = TimerHeap()

    init(_ count: Int) {
        self.count = count
        nodes = .allocate(capacity: count)
        for index in 0..<count {
            (nodes + index).initialize(to: TimerNode { _, _, _ in })
            nodes[index].sequence = UInt64(index)
        }
    }

    deinit { nodes.deallocate() }

    func insert(_ index: Int, at deadline: Int64) {
        nodes[index].deadline = deadline
        heap.insert(nodes + index)
    }

    func remove(_ index: Int) { heap.remove(nodes + index) }

    func pop() -> Int? { heap.popFirst().map { nodes.distance(to: $0) } }

    func popAll() -> [Int] {
        var order: [Int] = []
        while let index = pop() { order.append(index) }
        return order
    }
}

final class TimerHeapTests: XCTestCase {
    func testAnEmptyHeapHasNoFirst() {
        var heap = TimerHeap()
        XCTAssertNil(heap.first)
        XCTAssertNil(heap.popFirst())
    }

    func testTheyComeOutInOrderOfDeadline() {
        let timers = Timers(6)
        for (index, deadline) in [50, 10, 40, 20, 60, 30].enumerated() {
            timers.insert(index, at: Int64(deadline))
        }
        XCTAssertEqual(timers.popAll(), [1, 3, 5, 2, 0, 4])
    }

    func testEqualDeadlinesComeOutInOrderOfTheirMaking() {
        let timers = Timers(100)
        for index in (0..<100).shuffled() { timers.insert(index, at: 7) }
        XCTAssertEqual(timers.popAll(), Array(0..<100))
    }

    func testOneCanBeRemovedFromTheTopTheMiddleAndTheEnd() {
        for removed in 0..<6 {
            for popsBefore in 0..<2 {
                let timers = Timers(8)
                for index in 0..<8 { timers.insert(index, at: Int64(index)) }
                var expected = Array(0..<8)
                if popsBefore == 1 {
                    XCTAssertEqual(timers.pop(), 0)
                    expected.removeFirst()
                }
                timers.remove(removed + 1)
                expected.removeAll { $0 == removed + 1 }
                XCTAssertEqual(timers.popAll(), expected)
            }
        }
    }

    func testARemovedOneCanBeInsertedAgain() {
        let timers = Timers(3)
        for index in 0..<3 { timers.insert(index, at: Int64(index)) }
        timers.remove(1)
        timers.insert(1, at: 9)
        XCTAssertEqual(timers.popAll(), [0, 2, 1])
    }

    func testAgainstAModel_randomInsertionsRemovalsAndPops() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let timers = Timers(200)
            var model: [(deadline: Int64, index: Int)] = []
            for _ in 0..<2000 {
                let index = Int.random(in: 0..<200, using: &random)
                if let place = model.firstIndex(where: { $0.index == index }) {
                    timers.remove(index)
                    model.remove(at: place)
                } else if Bool.random(using: &random) {
                    let deadline = Int64.random(in: 0..<40, using: &random)
                    timers.insert(index, at: deadline)
                    model.append((deadline, index))
                } else {
                    let first = model.min { ($0.deadline, $0.index) < ($1.deadline, $1.index) }
                    XCTAssertEqual(timers.pop(), first?.index)
                    model.removeAll { $0.index == first?.index }
                }
            }
            let rest = model.sorted { ($0.deadline, $0.index) < ($1.deadline, $1.index) }
            XCTAssertEqual(timers.popAll(), rest.map(\.index))
        }
    }

    func testVeryManyInOneRowNeedNoStack() {
        let count = manyOf(100_000, full: 1_000_000)
        let timers = Timers(count)
        // Falling deadlines make a chain, rising ones a row.
        for index in 0..<count / 2 { timers.insert(index, at: Int64(count - index)) }
        for index in count / 2..<count { timers.insert(index, at: Int64(count + index)) }
        var last = Int64.min
        while let index = timers.pop() {
            XCTAssertGreaterThanOrEqual(timers.nodes[index].deadline, last)
            last = timers.nodes[index].deadline
        }
    }
}
