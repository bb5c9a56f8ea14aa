// Tests sleeping and waking: by being done, by a nudge, by the deadline, never by luck.

import XCTest

@testable import VowCore

final class ParkingTests: CoreTest {
    /// A parking word in a record, as a waiting thread has one.
    private func withWord(_ start: UInt64, _ body: (borrowing AtomicWord, UnsafeRawPointer) -> Void)
    {
        withRecords(1) { records in
            records[0].pointee.counts.storeRelaxed(start)
            body(records[0].pointee.counts, UnsafeRawPointer(records[0]) + 8)
        }
    }

    func testTheWordLiesWhereTheKernelIsToldToLook() {
        withWord(0x1234_5678) { _, address in
            XCTAssertEqual(address.load(as: UInt32.self), 0x1234_5678)
        }
    }

    func testG11_whoeverIsDoneBeforeDoesNotSleep() {
        withWord(Parking.awake) { word, address in
            unparkDone(word, at: address)
            XCTAssertTrue(park(word, at: address, until: .never))
            XCTAssertEqual(word.loadAcquire(), Parking.done)
        }
    }

    func testG11_doneByAnotherThreadEndsTheSleep() {
        for delay in [UInt32(0), 0, 0, 20, 200, 5000] {
            withRecords(1) { records in
                let record = records[0]
                let address = UnsafeRawPointer(record) + 8
                record.pointee.counts.storeRelaxed(Parking.awake)
                let worker = Worker {
                    usleep(delay)
                    unparkDone(record.pointee.counts, at: address)
                }
                while record.pointee.counts.loadAcquire() != Parking.done {
                    XCTAssertTrue(park(record.pointee.counts, at: address, until: .never))
                }
                worker.join()
            }
        }
    }

    func testG11_aNudgeEndsTheSleepAndIsUsedUp() {
        for delay in [UInt32(0), 5000] {
            withRecords(1) { records in
                let record = records[0]
                let address = UnsafeRawPointer(record) + 8
                record.pointee.counts.storeRelaxed(Parking.awake)
                let worker = Worker {
                    usleep(delay)
                    unparkToLook(record.pointee.counts, at: address)
                }
                XCTAssertTrue(park(record.pointee.counts, at: address, until: .never))
                worker.join()
                // Only an early end of the kernel's sleep can have left it.
                if record.pointee.counts.loadAcquire() == Parking.nudged {
                    XCTAssertTrue(park(record.pointee.counts, at: address, until: .never))
                }
                XCTAssertEqual(record.pointee.counts.loadAcquire(), Parking.awake)
            }
        }
    }

    func testG11_aNudgeBeforeTheSleepIsNotLost() {
        withWord(Parking.awake) { word, address in
            unparkToLook(word, at: address)
            unparkToLook(word, at: address)
            XCTAssertEqual(word.loadAcquire(), Parking.nudged)
            XCTAssertTrue(park(word, at: address, until: .never))
            XCTAssertEqual(word.loadAcquire(), Parking.awake)
        }
    }

    func testG11_doneIsFinal() {
        withWord(Parking.awake) { word, address in
            unparkDone(word, at: address)
            unparkToLook(word, at: address)
            XCTAssertEqual(word.loadAcquire(), Parking.done)
        }
        withWord(Parking.nudged) { word, address in
            unparkDone(word, at: address)
            XCTAssertEqual(word.loadAcquire(), Parking.done)
        }
    }

    func testG11_theDeadlineEndsTheSleepAndNotBefore() {
        for delay in [Int64(0), 1_000_000, 20_000_000] {
            withWord(Parking.awake) { word, address in
                let deadline = Deadline.after(delay)
                // The kernel may end a sleep for no reason; then it begins again, as in a wait.
                while park(word, at: address, until: deadline) {
                    XCTAssertEqual(word.loadAcquire(), Parking.awake)
                }
                XCTAssertTrue(deadline.hasPassed)
                XCTAssertEqual(word.loadAcquire(), Parking.awake)
            }
        }
    }

    func testADeadlineBeyondTheClockIsNever() {
        XCTAssertNil(Deadline.after(Int64.max).nanoseconds)
        XCTAssertFalse(Deadline.after(Int64.max).hasPassed)
        XCTAssertNil(Deadline.never.nanoseconds)
        XCTAssertFalse(Deadline.never.hasPassed)
        XCTAssertTrue(Deadline.after(0).hasPassed)
        XCTAssertFalse(Deadline.after(60_000_000_000).hasPassed)
    }

    func testTheClockDoesNotGoBack() {
        var last = monotonicNow()
        for _ in 0..<10_000 {
            let now = monotonicNow()
            XCTAssertGreaterThanOrEqual(now, last)
            last = now
        }
    }
}
