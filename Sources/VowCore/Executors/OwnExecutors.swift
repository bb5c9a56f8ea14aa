// The executors that are always there: inline, pool, main. Immortal, in static memory.

import CVow

struct OwnExecutors {
    var inline: ExecutorPointer! = nil
    var pool: ExecutorPointer! = nil
    var main: ExecutorPointer! = nil
}

/// Written once, before any thread has entered.
nonisolated(unsafe) private(set) var ownExecutors = OwnExecutors()

/// Whether somebody asked for the main executor: only then can a wait on the main thread block it.
let isMainExecutorUsed = AtomicMark()

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction: what runs it.
    @inline(__always)
    var executor: ExecutorPointer? { isInline ? ownExecutors.inline : executorElsewhere }
}

func prepareOwnExecutors(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ kind: ExecutorKind, isSerial: Bool) -> ExecutorPointer {
        let executor = storage.bindMemory(to: ExecutorRecord.self, capacity: 1)
        executor.initialize(to: ExecutorRecord(kind, isSerial: isSerial, isImmortal: true))
        storage += (MemoryLayout<ExecutorRecord>.stride + 15) & ~15
        return executor
    }
    ownExecutors.inline = make(.inline, isSerial: false)
    ownExecutors.pool = make(.pool, isSerial: false)
    ownExecutors.main = make(.serial, isSerial: true)
}
