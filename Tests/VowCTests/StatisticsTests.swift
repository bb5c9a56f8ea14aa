// Tests chapters 8 and 9 of vow.h: the allocator's moment, the version, and the counters.

import CVow
import XCTest

final class StatisticsTests: CTest {
    func testTheLibraryIsTheOneOfTheHeader() {
        XCTAssertEqual(vow_version(), UInt32(VOW_VERSION))
        XCTAssertEqual(
            vow_version(),
            UInt32(VOW_VERSION_MAJOR << 16 | VOW_VERSION_MINOR << 8 | VOW_VERSION_PATCH))
        XCTAssertEqual(
            VOW_VERSION_STRING, "\(VOW_VERSION_MAJOR).\(VOW_VERSION_MINOR).\(VOW_VERSION_PATCH)")
    }

    func testStatisticsCountEachStep() {
        let before = statistics()
        let (promise, resolver) = create()
        let derived = link(vow_promise_retain(promise)!, fulfilled: pass)
        var now = statistics()
        XCTAssertEqual(now.created - before.created, 2)
        XCTAssertEqual(now.live - before.live, 2)
        XCTAssertEqual(now.pending - before.pending, 2)
        XCTAssertEqual(now.handlers - before.handlers, 1)
        XCTAssertEqual(now.settled, before.settled)
        XCTAssertGreaterThan(now.bytes, before.bytes)
        finish(resolver, vow_none())
        now = statistics()
        XCTAssertEqual(now.settled - before.settled, 2)
        XCTAssertEqual(now.pending, before.pending)
        XCTAssertEqual(now.handlers, before.handlers)
        XCTAssertEqual(now.live - before.live, 2)
        vow_promise_release(promise)
        vow_promise_release(derived)
        now = statistics()
        XCTAssertEqual(now.live, before.live)
        XCTAssertEqual(now.bytes, before.bytes)
        XCTAssertEqual(now.created - before.created, 2)
    }

    func testStatisticsCountTheMemoryOfValuesAndExecutors() {
        let before = statistics().bytes
        let value = vow_string("0123456789", 10)
        let withValue = statistics().bytes
        XCTAssertGreaterThanOrEqual(withValue - before, 10)
        let executor = vow_executor_serial(nil)
        XCTAssertGreaterThan(statistics().bytes, withValue)
        vow_executor_release(executor)
        vow_value_release(value)
        XCTAssertEqual(statistics().bytes, before)
    }

    func testStatisticsAreFilledAsFarAsTheCallersStructGoes() {
        vow_promise_release(vow_promise_with(vow_none()))
        var whole = statistics()
        XCTAssertGreaterThan(whole.created, 0)
        var short = vow_statistics()
        short.size = 16
        XCTAssertEqual(vow_stats(&short), 0)
        XCTAssertEqual(short.created, whole.created)
        XCTAssertEqual(short.settled, 0)
        XCTAssertEqual(short.size, 16)
        whole.size += 64
        withUnsafeTemporaryAllocation(byteCount: whole.size, alignment: 8) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0x5a)
            let longer = memory.baseAddress!.assumingMemoryBound(to: vow_statistics.self)
            longer.pointee.size = whole.size
            XCTAssertEqual(vow_stats(longer), 0)
            XCTAssertEqual(longer.pointee.created, whole.created)
            XCTAssertTrue(memory.suffix(64).allSatisfy { $0 == 0x5a })
        }
    }

    func testStatisticsWithoutASizeAreRefused() {
        var none = vow_statistics()
        for size in 0..<MemoryLayout<Int>.size {
            none.size = size
            XCTAssertEqual(vow_stats(&none), VOW_EINVAL)
            XCTAssertEqual(none.created, 0)
        }
    }

    func testTheAllocatorCannotBeChangedOncePromisesExist() {
        vow_promise_release(vow_promise_with(vow_none()))
        var allocator = vow_allocator(
            size: MemoryLayout<vow_allocator>.size, allocate: { _, bytes in malloc(bytes) },
            deallocate: { _, memory, _ in free(memory) }, context: nil)
        XCTAssertEqual(vow_set_allocator(&allocator), VOW_EINVAL)
        XCTAssertEqual(vow_set_allocator(nil), VOW_EINVAL)
        allocator.size = 8
        XCTAssertEqual(vow_set_allocator(&allocator), VOW_EINVAL)
    }
}
