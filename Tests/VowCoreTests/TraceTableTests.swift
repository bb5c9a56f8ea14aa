// Tests the table of live records against a dictionary, with addresses that want the same place.

import CVowPlatform
import XCTest

@testable import VowCore

final class TraceTableTests: CoreTest {
    private func address(_ number: UInt) -> UnsafeRawPointer {
        UnsafeRawPointer(bitPattern: number)!
    }

    /// Addresses of which many want one of a few places next to the end of a table of 1,024.
    private func crowdedAddresses(_ count: Int) -> [UInt] {
        var found: [UInt] = []
        var candidate: UInt = 16
        while found.count < count {
            let place = Int((UInt64(candidate) &* 0x9e37_79b9_7f4a_7c15) >> 32) & 1023
            if place > 1018 || place < 2 { found.append(candidate) }
            candidate += 16
        }
        return found
    }

    /// Inserts, removes and finds at random, and compares after each step what changed, and at times all.
    private func check(_ addresses: [UInt], steps: Int, seed: UInt64) {
        var table = TraceTable()
        var ids: [UInt: UInt64] = [:]
        var random = seed
        var lastID: UInt64 = 0
        for step in 0..<steps {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = addresses[Int(random >> 33) % addresses.count]
            if let id = ids[number] {
                guard let entry = table.find(address(number)) else { return XCTFail("lost") }
                XCTAssertEqual(entry.pointee.id, id)
                XCTAssertEqual(entry.pointee.made, Int64(id))
                table.remove(entry)
                ids[number] = nil
                XCTAssertNil(table.find(address(number)))
            } else {
                XCTAssertNil(table.find(address(number)))
                guard let entry = table.insert(address(number)) else { return XCTFail("no memory") }
                XCTAssertGreaterThan(entry.pointee.id, lastID)
                lastID = entry.pointee.id
                entry.pointee.made = Int64(lastID)
                ids[number] = lastID
            }
            XCTAssertEqual(table.count, ids.count)
            if step % 97 == 0 { checkAll(table, ids) }
        }
        checkAll(table, ids)
        table.removeAll()
        XCTAssertEqual(table.count, 0)
        XCTAssertNil(table.find(address(addresses[0])))
    }

    private func checkAll(_ table: TraceTable, _ ids: [UInt: UInt64]) {
        for (number, id) in ids {
            XCTAssertEqual(table.find(address(number))?.pointee.id, id)
        }
        var seen = 0
        table.forEach { entry in
            seen += 1
            XCTAssertEqual(ids[UInt(bitPattern: entry.pointee.record)], entry.pointee.id)
        }
        XCTAssertEqual(seen, ids.count)
    }

    func testItIsADictionary() {
        for seed in 1...10 {
            check((1...300).map { UInt($0) * 64 }, steps: 2000, seed: UInt64(seed))
        }
    }

    func testItIsADictionaryWhereManyWantTheSamePlace() {
        let addresses = crowdedAddresses(200)
        for seed in 1...20 { check(addresses, steps: 3000, seed: UInt64(seed)) }
    }

    func testItGrows() {
        check((1...5000).map { UInt($0) * 16 }, steps: 20_000, seed: 7)
    }

    func testLabelsGoWithTheirEntries() {
        var table = TraceTable()
        for number in crowdedAddresses(50) {
            setLabel(of: table.insert(address(number))!, "label of \(number)")
        }
        for number in crowdedAddresses(50).dropLast(10) {
            table.remove(table.find(address(number))!)
        }
        for number in crowdedAddresses(50).suffix(10) {
            let label = table.find(address(number))!.pointee.label!
            XCTAssertEqual(String(cString: label), "label of \(number)")
        }
        table.removeAll()
    }
}
