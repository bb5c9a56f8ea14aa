// Tests that who waits for a lock, or for another thread's next step, does not keep the processor from it.

import XCTest

@testable import VowCore

final class SpinLockTests: CoreTest {
    private final class Shared: @unchecked Sendable {
        let lock = SpinLock()
        var count = 0
        var secondsOfProcessor = 0.0
        let isWaiting = AtomicWord(0)
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    func testWhoDoesNotGetItSleepsUntilItIsFree() {
        let shared = Shared()
        shared.lock.lock()
        let worker = Worker { [self] in
            let before = processorTime()
            shared.isWaiting.storeRelease(1)
            shared.lock.lock()
            shared.count += 1
            shared.lock.unlock()
            shared.secondsOfProcessor = processorTime() - before
        }
        while shared.isWaiting.loadAcquire() == 0 { usleep(100) }
        usleep(200_000)
        shared.count += 1
        shared.lock.unlock()
        worker.join()
        XCTAssertEqual(shared.count, 2)
        XCTAssertLessThan(shared.secondsOfProcessor, 0.05)
    }

    func testOneAtATimeHasIt() {
        let shared = Shared()
        let workers = (0..<4).map { _ in
            Worker { for _ in 0..<50_000 { shared.lock.withLock { shared.count += 1 } } }
        }
        for worker in workers { worker.join() }
        XCTAssertEqual(shared.count, 200_000)
    }

    func testWhoWaitsLongForAStepOfAnotherThreadSleeps() {
        let start = monotonicNow()
        let before = processorTime()
        var pause = Backoff()
        while monotonicNow() - start < 200_000_000 { pause.wait() }
        XCTAssertLessThan(processorTime() - before, 0.05)
    }
}
