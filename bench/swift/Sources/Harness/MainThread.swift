// The main thread as an executor of tasks: passes that block it must not block the pool of tasks.

import Glibc
import Synchronization

final class MainThread: TaskExecutor {
    static let shared = MainThread()

    private let jobs = Mutex<[UnownedJob]>([])
    private let wakeUp = Wakeup()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        wakeUp.signal()
    }

    /// Called by the main thread, whose program ends in one of the jobs.
    func run() -> Never {
        while true {
            wakeUp.wait()
            let next = jobs.withLock { $0.removeFirst() }
            next.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

private final class Wakeup: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func signal() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
