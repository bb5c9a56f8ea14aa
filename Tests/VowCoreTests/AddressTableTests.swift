// Tests the table of what is found by an address against a dictionary, with memory for more buckets and without.

import CVowPlatform
import XCTest

@testable import VowCore

final class AddressTableTests: CoreTest {
    private let lock = SpinLock()
    private var storage: UnsafeMutableRawPointer!
    private var table: AddressTablePointer!
    private var places: [TablePlace] = []

    override func setUp() {
        super.setUp()
        storage = .allocate(byteCount: 4096, alignment: 16)
        memset(storage, 0, 4096)
        var front = storage!
        table = AddressTable.make(&front)
        XCTAssertLessThanOrEqual(front - storage, 4096)
    }

    override func tearDown() {
        XCTAssertEqual(table.pointee.count, 0)
        for place in places { place.deallocate() }
        storage.deallocate()
        super.tearDown()
    }

    private func key(_ number: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(bitPattern: 0x7000_0000 + number * 48)!
    }

    private func makePlace() -> TablePlace {
        let place = TablePlace.allocate(capacity: 1)
        place.initialize(to: TableMember())
        places.append(place)
        return place
    }

    private func found(_ number: Int) -> [TablePlace] {
        var found: [TablePlace] = []
        var place = table.first(key(number))
        while let current = place {
            found.append(current)
            place = current.nextLike
        }
        return found
    }

    private func tendIfNeeded() { if table.pointee.isUntended { tend(table, lock) } }

    private func add(_ count: Int, tending: Bool = true) {
        for number in 0..<count {
            table.add(makePlace(), key(number))
            if tending { tendIfNeeded() }
        }
    }

    private func removeAll(_ count: Int) {
        for number in 0..<count {
            XCTAssertNotNil(table.removeAll(key(number)))
            tendIfNeeded()
        }
    }

    func testThereAreAsManyBucketsAsMembersAndAtMostTwiceAsMany() {
        add(5000)
        XCTAssertEqual(table.pointee.bucketCount, 5000)
        for number in 0..<4990 {
            XCTAssertNotNil(table.removeAll(key(number)))
            tendIfNeeded()
            XCTAssertLessThanOrEqual(table.pointee.bucketCount, max(2 * table.pointee.count, 32))
        }
        for number in 4990..<5000 { XCTAssertEqual(found(number).count, 1) }
        for number in 4990..<5000 { XCTAssertNotNil(table.removeAll(key(number))) }
    }

    func testMemoryIsGivenBackWithTheMembers() {
        add(5000)
        XCTAssertEqual(table.pointee.capacity, 8192)
        removeAll(5000)
        XCTAssertEqual(table.pointee.capacity, AddressTable.fewest)
    }

    func testWithoutMemoryAllAreFoundAllTheSame() {
        add(1000, tending: false)
        XCTAssertEqual(table.pointee.bucketCount, AddressTable.fewest)
        for number in 0..<1000 { XCTAssertEqual(found(number).count, 1) }
        XCTAssertNil(table.first(key(1000)))
        // When there is memory again, they are spread.
        add(1000)
        XCTAssertEqual(table.pointee.bucketCount, 2000)
        for number in 0..<1000 { XCTAssertEqual(found(number).count, 2) }
        removeAll(1000)
    }

    func testThoseWithTheSameKeyKeepTheirOrderNewestFirst() {
        var mine: [TablePlace] = []
        for round in 0..<40 {
            mine.insert(makePlace(), at: 0)
            table.add(mine[0], key(7))
            tendIfNeeded()
            for number in 0..<10 { table.add(makePlace(), key(1000 + 10 * round + number)) }
            tendIfNeeded()
            XCTAssertEqual(found(7), mine)
        }
        for number in 1000..<1400 {
            XCTAssertNotNil(table.removeAll(key(number)))
            XCTAssertEqual(found(7), mine)
        }
        table.remove(mine.remove(at: 20))
        XCTAssertEqual(found(7), mine)
        XCTAssertNotNil(table.removeAll(key(7)))
        XCTAssertTrue(found(7).isEmpty)
        tendIfNeeded()
    }

    func testAtRandomItIsADictionary() {
        var here: [Int: TablePlace] = [:]
        var random: UInt64 = 0x9e37_79b9_7f4a_7c15
        for step in 0..<60_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Grows, shrinks, grows.
            let isAdded = Int(random >> 60) < (step / 20_000 == 1 ? 5 : 11)
            let number = Int(random >> 33) % 4000
            if isAdded && here[number] == nil {
                let place = makePlace()
                table.add(place, key(number))
                here[number] = place
            } else if !isAdded, let place = here.removeValue(forKey: number) {
                XCTAssertEqual(place.pointee.key, key(number))
                table.remove(place)
            }
            if step % 3 == 0 { tendIfNeeded() }
            XCTAssertEqual(table.first(key(number)), here[number])
            XCTAssertEqual(table.pointee.count, here.count)
        }
        for (number, place) in here { XCTAssertEqual(table.first(key(number)), place) }
        for number in here.keys { XCTAssertNotNil(table.removeAll(key(number))) }
        tendIfNeeded()
    }
}
