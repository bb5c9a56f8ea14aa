// Tests the wheel of timers against a sorted array: the same timers in the same order, at random, and looked for in time.

import XCTest

@testable import VowCore

final class TimerWheelTests: CoreTest {
    private struct Modelled {
        let deadline: Int64
        let age: Int
        let node: TimerPointer
    }

    private var memory: UnsafeMutableRawPointer!
    private var wheel: TimerWheel!
    private var now: Int64 = 0
    private var age = 0
    private var state: UInt64 = 1
    /// Sorted, the earliest last.
    private var model: [Modelled] = []

    /// The same numbers in every run.
    private func random(below limit: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % limit
    }

    /// Of any length, as often a short as a long one.
    private func randomTime(bits: UInt64) -> Int64 {
        Int64(random(below: 1 << (1 + random(below: bits))))
    }

    private func begin(at moment: Int64, seed: UInt64) {
        memory = .allocate(byteCount: TimerWheel.size, alignment: 16)
        wheel = TimerWheel(in: memory)
        now = moment
        state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    }

    private func end() {
        now = Int64.max
        takeDue(at: Int64.max)
        XCTAssertTrue(model.isEmpty && wheel.isEmpty)
        memory.deallocate()
    }

    private func add(at deadline: Int64) {
        let node = TimerPointer.allocate(capacity: 1)
        node.initialize(to: TimerNode { _, _, _ in })
        wheel.insert(node, at: deadline, now: now)
        age += 1
        let new = Modelled(deadline: node.pointee.deadline, age: age, node: node)
        // A deadline in the past may become a later one that has come, too.
        XCTAssertTrue(
            deadline >= now
                ? new.deadline == deadline : new.deadline >= deadline && new.deadline <= now)
        var low = 0
        var high = model.count
        while low < high {
            let middle = (low + high) / 2
            if model[middle].deadline > new.deadline { low = middle + 1 } else { high = middle }
        }
        model.insert(new, at: low)
    }

    private func remove() {
        if model.isEmpty { return }
        let node = model.remove(at: Int(random(below: UInt64(model.count)))).node
        wheel.remove(node)
        node.deallocate()
    }

    private func takeDue(at moment: Int64, most: Int = .max) {
        var taken = 0
        while taken < most, let node = wheel.next(before: moment), node.pointee.deadline <= moment {
            guard let first = model.popLast(), first.node == node else {
                return XCTFail("another timer was next")
            }
            wheel.remove(node)
            node.deallocate()
            taken += 1
        }
        if taken < most, let first = model.last { XCTAssertGreaterThan(first.deadline, moment) }
    }

    /// Never after the next deadline; exact with few timers; and not at once, over and over, before a timer is due.
    private func checkNextLook() {
        let next = model.last?.deadline ?? Int64.max
        let look = wheel.nextLook(at: now)
        XCTAssertLessThanOrEqual(look, next)
        if model.count <= 8 { XCTAssertEqual(look, next) }
        XCTAssertTrue(look > now || look == next)
    }

    private func anyDeadline() -> Int64 {
        switch random(below: 16) {
        case 0: Int64.max
        case 1: now
        case 2: now - randomTime(bits: 40)
        case 3: -1
        case 4: model.isEmpty ? now : model[Int(random(below: UInt64(model.count)))].deadline
        case 5..<10: moment(Int64(random(below: 4)) << 20, after: now)
        default: moment(randomTime(bits: 61), after: now)
        }
    }

    func testAtRandomItIsASortedArray() {
        for seed: UInt64 in 1...40 {
            begin(at: seed % 2 == 0 ? 0 : randomTime(bits: 50), seed: seed)
            let most = [4, 12, 100, 3000][Int(seed % 4)]
            let longest = 10 + seed
            for _ in 0..<10_000 {
                switch random(below: 8) {
                case 0..<4: if model.count < most { add(at: anyDeadline()) } else { remove() }
                case 4: remove()
                case 5: takeDue(at: now, most: 3)
                case 6:
                    now = moment(randomTime(bits: longest), after: now)
                    takeDue(at: now)
                default: checkNextLook()
                }
            }
            end()
        }
    }

    func testEqualDeadlinesKeepTheirOrderOnAllLevels() {
        for bits: Int64 in 0..<62 {
            begin(at: (1 << 62) - 1 - (1 << bits), seed: 1)
            for number: Int64 in 0..<300 { add(at: now + 1 << bits + number % 3) }
            var round = 0
            while let next = model.last?.deadline {
                now = wheel.nextLook(at: now)
                XCTAssertLessThanOrEqual(now, next)
                if round < 20 { for _ in 0..<20 { add(at: next + 2) } }
                takeDue(at: now)
                if round < 20 { add(at: now) }
                round += 1
            }
            end()
        }
    }

    /// A look that finds nothing due has spread more than eight timers.
    func testLooksAreFewerThanTimers() {
        begin(at: 12_345, seed: 7)
        let count = 100_000
        for _ in 0..<count { add(at: now + Int64(random(below: 3_600_000_000_000))) }
        var early = 0
        while let next = model.last?.deadline {
            now = wheel.nextLook(at: now)
            if now < next { early += 1 }
            takeDue(at: now)
        }
        XCTAssertLessThan(early, count / 4)
        end()
    }
}
