// Tests the memory that a thread keeps: of three sizes, bounded, taken again newest first. That it is given back
// with the thread shows in Tests/c/shortcuts.c.

import CVow
import XCTest

@testable import VowCore

final class SpareMemoryTests: CoreTest {
    private static let sizes = [40, 72, 96]

    private func opened() -> SpareMemory {
        var spares = SpareMemory()
        spares.open()
        return spares
    }

    func testWhatWasKeptIsTakenAgain_newestFirst_eachSizeForItself() {
        var spares = opened()
        for size in SpareMemoryTests.sizes {
            let first = allocateMemory(size)!
            let second = allocateMemory(size)!
            XCTAssertTrue(spares.keep(first, size))
            XCTAssertTrue(spares.keep(second, size))
            for other in SpareMemoryTests.sizes where other != size {
                XCTAssertNil(spares.take(other))
            }
            XCTAssertEqual(spares.take(size), second)
            XCTAssertEqual(spares.take(size), first)
            XCTAssertNil(spares.take(size))
            freeMemory(first, size)
            freeMemory(second, size)
        }
    }

    func testTheSizesAreThoseOfPromisesAndLinks() {
        XCTAssertEqual(
            SpareMemoryTests.sizes,
            [Shape().recordSize, Shape.link.recordSize, Shape.link.union(.extras).recordSize])
    }

    func testOtherSizesAreNotKept() {
        var spares = opened()
        for size in [16, 39, 41, 73, 97, 152] {
            let memory = allocateMemory(size)!
            XCTAssertFalse(spares.keep(memory, size))
            XCTAssertNil(spares.take(size))
            freeMemory(memory, size)
        }
    }

    func testAThousandAndSomeOfEachSizeAreKept_andNoMore() {
        var spares = opened()
        for size in SpareMemoryTests.sizes {
            for _ in 0..<1024 { XCTAssertTrue(spares.keep(allocateMemory(size)!, size)) }
            let oneMore = allocateMemory(size)!
            XCTAssertFalse(spares.keep(oneMore, size))
            freeMemory(spares.take(size)!, size)
            XCTAssertTrue(spares.keep(oneMore, size))
        }
        spares.giveBack()
    }

    func testNothingIsKeptBeforeItIsOpenedNorAfterItWasGivenBack() {
        var spares = SpareMemory()
        let memory = allocateMemory(40)!
        XCTAssertFalse(spares.keep(memory, 40))
        spares.open()
        XCTAssertTrue(spares.keep(memory, 40))
        spares.giveBack()
        XCTAssertNil(spares.take(40))
        let other = allocateMemory(40)!
        XCTAssertFalse(spares.keep(other, 40))
        freeMemory(other, 40)
    }

    func testNothingIsKeptWhereTheProgramHasAnAllocatorOfItsOwn() {
        // The same functions, so that it does not matter who allocates meanwhile.
        allocatorHooks.deallocate = { _, memory, _ in free(memory) }
        allocatorHooks.allocate = { _, size in malloc(size) }
        var spares = opened()
        allocatorHooks.allocate = nil
        allocatorHooks.deallocate = nil
        let memory = allocateMemory(40)!
        XCTAssertFalse(spares.keep(memory, 40))
        freeMemory(memory, 40)
    }

    func testAFreedPromiseIsTheNextOne() {
        Worker {
            let first = openPromise()
            let address = UInt(bitPattern: UnsafeRawPointer(first))
            resolveLast(first, vow_none())
            drop(first)
            let next = openPromise()
            XCTAssertEqual(UInt(bitPattern: UnsafeRawPointer(next)), address)
            resolveLast(next, vow_none())
            drop(next)
        }.join()
    }
}
