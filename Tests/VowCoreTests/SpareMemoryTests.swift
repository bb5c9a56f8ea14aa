// Tests the memory that a thread keeps: of four sizes, bounded, taken again newest first, given back as far as it was
// not needed. When that happens shows in Tests/c/spare_memory.c, and that it goes with the thread in shortcuts.c.

import CVow
import XCTest

@testable import VowCore

/// As a thread has it: the lists, and the counts beside them.
private final class Spares {
    private var memory = SpareMemory()
    let counts = SpareCounts()

    init(isOpen: Bool = true) { if isOpen { memory.open() } }

    deinit { memory.giveBack() }

    func take(_ size: Int) -> UnsafeMutableRawPointer? { memory.take(size, counts) }

    func keep(_ piece: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        switch memory.keep(piece, size, counts) {
        case .kept: return true
        case .refused: return false
        case .isLowest:
            memory.keepLowest(piece, size, counts)
            return true
        }
    }

    func keep(_ number: Int, of size: Int) {
        let pieces = (0..<number).map { _ in take(size) ?? allocateMemory(size)! }
        for piece in pieces { XCTAssertTrue(keep(piece, size)) }
    }

    @discardableResult
    func trim() -> Bool { memory.trim(counts) }

    func giveBack() {
        memory.giveBack()
        counts.reset()
    }
}

final class SpareMemoryTests: CoreTest {
    private static let sizes = [40, 72, 96, 128]
    private static let few = Int(SpareMemory.few)

    func testWhatWasKeptIsTakenAgain_newestFirst_eachSizeForItself() {
        let spares = Spares()
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
            [
                Shape().recordSize, Shape.link.recordSize, Shape.linkWithExtras.recordSize,
                Shape.linkWithExtras.recordSize + CarriedContext.size,
            ])
    }

    func testOtherSizesAreNotKept() {
        let spares = Spares()
        for size in [16, 39, 41, 73, 97, 152] {
            let memory = allocateMemory(size)!
            XCTAssertFalse(spares.keep(memory, size))
            XCTAssertNil(spares.take(size))
            freeMemory(memory, size)
        }
    }

    func testAThousandAndSomeOfEachSizeAreKept_andNoMore_alsoAfterARest() {
        for size in SpareMemoryTests.sizes {
            let spares = Spares()
            for number in 0..<1024 {
                XCTAssertTrue(spares.keep(allocateMemory(size)!, size))
                if number == 500 { spares.trim() }
            }
            let oneMore = allocateMemory(size)!
            XCTAssertFalse(spares.keep(oneMore, size))
            freeMemory(spares.take(size)!, size)
            XCTAssertTrue(spares.keep(oneMore, size))
            XCTAssertEqual(spares.counts.bytes, UInt64(1024 * size))
        }
    }

    func testTheBytesAreThoseOfWhatIsKept() {
        let spares = Spares()
        spares.keep(3, of: 40)
        spares.keep(2, of: 72)
        spares.keep(1, of: 96)
        XCTAssertEqual(spares.counts.bytes, 3 * 40 + 2 * 72 + 96)
        freeMemory(spares.take(72)!, 72)
        XCTAssertEqual(spares.counts.bytes, 3 * 40 + 72 + 96)
    }

    func testTheSecondRestGivesBackAllButAFew() {
        let spares = Spares()
        spares.keep(500, of: 40)
        XCTAssertTrue(spares.trim())
        XCTAssertEqual(spares.counts.bytes, 500 * 40)
        XCTAssertFalse(spares.trim())
        XCTAssertEqual(spares.counts.bytes, UInt64(SpareMemoryTests.few * 40))
    }

    func testWhatWasNeededBetweenTwoRestsStays_howeverOftenItWasTaken() {
        let spares = Spares()
        spares.keep(500, of: 40)
        XCTAssertTrue(spares.trim())
        for _ in 0..<3 { spares.keep(100, of: 40) }
        XCTAssertTrue(spares.trim())
        XCTAssertEqual(spares.counts.bytes, 100 * 40)
        spares.keep(100, of: 40)
        XCTAssertTrue(spares.trim())
        XCTAssertEqual(spares.counts.bytes, 100 * 40)
    }

    func testAFewAreNeverGivenBack() {
        let spares = Spares()
        spares.keep(SpareMemoryTests.few, of: 72)
        for _ in 0..<3 { XCTAssertFalse(spares.trim()) }
        XCTAssertEqual(spares.counts.bytes, UInt64(SpareMemoryTests.few * 72))
    }

    func testEachSizeIsTrimmedForItself() {
        let spares = Spares()
        for size in SpareMemoryTests.sizes { spares.keep(100, of: size) }
        spares.trim()
        spares.keep(100, of: 72)
        spares.trim()
        XCTAssertEqual(
            spares.counts.bytes, UInt64(100 * 72 + SpareMemoryTests.few * (40 + 96 + 128)))
    }

    func testNothingIsKeptBeforeItIsOpened() {
        let spares = Spares(isOpen: false)
        let memory = allocateMemory(40)!
        XCTAssertFalse(spares.keep(memory, 40))
        freeMemory(memory, 40)
    }

    func testAfterAllWasGivenBackItKeepsAsBefore_alsoWhereItWasFull() {
        for number in [50, 1024] {
            let spares = Spares()
            spares.keep(number, of: 40)
            spares.trim()
            spares.giveBack()
            XCTAssertEqual(spares.counts.bytes, 0)
            XCTAssertNil(spares.take(40))
            spares.keep(1024, of: 40)
            XCTAssertEqual(spares.counts.bytes, 1024 * 40)
        }
    }

    func testWhateverIsTakenAndKept_theBytesAreRight_andNoMoreIsGivenBackThanWasNeverNeeded() {
        var seed: UInt64 = 1
        func below(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        let spares = Spares()
        var kept = 0
        var lowest = 0
        for _ in 0..<20_000 {
            switch below(8) {
            case 0:
                spares.trim()
                // With so few it does not even begin anew.
                if kept > SpareMemoryTests.few {
                    kept = max(kept - lowest, SpareMemoryTests.few)
                    lowest = kept
                }
            case 1, 2, 3:
                for _ in 0..<below(60) {
                    guard let piece = spares.take(72) else { break }
                    freeMemory(piece, 72)
                    kept -= 1
                }
                lowest = min(lowest, kept)
            default:
                for _ in 0..<below(60) where kept < 1024 {
                    XCTAssertTrue(spares.keep(allocateMemory(72)!, 72))
                    kept += 1
                }
            }
            XCTAssertEqual(spares.counts.bytes, UInt64(kept * 72))
        }
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
