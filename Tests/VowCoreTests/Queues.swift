// Dispatch queues of the tests' own, as a program has them.

import CDispatch

@testable import VowCore

extension WorkQueue {
    /// A new serial queue, owned.
    static func serial(label: String) -> WorkQueue? {
        let queue: OpaquePointer? = dispatch_queue_create(label, nil)
        return queue.flatMap { WorkQueue(UnsafeMutableRawPointer($0)) }
    }
}
