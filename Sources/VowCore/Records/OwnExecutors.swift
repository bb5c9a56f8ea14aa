// The executors that are always there: inline, pool, main. Immortal, in static memory.

import CVow
import CVowPlatform

/// At the beginning of the process's storage, so that each is a constant address: a global that holds it would be
/// loaded, and asked in the ordinary build whether it is being changed, at every link.
struct OwnExecutors {
    var inline: ExecutorPointer { place(0) }
    var pool: ExecutorPointer { place(1) }
    var main: ExecutorPointer { place(2) }

    private static let stride = (MemoryLayout<ExecutorRecord>.stride + 15) & ~15

    @inline(__always)
    private func place(_ index: Int) -> ExecutorPointer {
        (vow_platform_static() + index * OwnExecutors.stride)
            .assumingMemoryBound(to: ExecutorRecord.self)
    }

    fileprivate static let size = 3 * stride
}

let ownExecutors = OwnExecutors()

/// Whether somebody asked for the main executor: only then can a wait on the main thread block it.
let isMainExecutorUsed = AtomicMark()

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction: what runs it.
    @inline(__always)
    var executor: ExecutorPointer? { isInline ? ownExecutors.inline : executorElsewhere }
}

/// The first to take from the process's storage.
func prepareOwnExecutors(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ executor: ExecutorPointer, _ kind: ExecutorKind, isSerial: Bool) {
        executor.initialize(to: ExecutorRecord(kind, isSerial: isSerial, isImmortal: true))
    }
    make(ownExecutors.inline, .inline, isSerial: false)
    make(ownExecutors.pool, .pool, isSerial: false)
    make(ownExecutors.main, .serial, isSerial: true)
    storage += OwnExecutors.size
}
