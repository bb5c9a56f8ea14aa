// Making and freeing executors. Nil when there is no memory.

import CVow
import CVowPlatform

func makeSerialExecutor(label: UnsafePointer<CChar>?) -> ExecutorPointer? {
    let nameSize = label.map { strlen($0) + 1 } ?? 0
    let executor = makeExecutor(
        ExecutorRecord(.serial, isSerial: true, isImmortal: false), nameSize: nameSize)
    if let label, let executor { executor.name?.update(from: label, count: nameSize) }
    return executor
}

func makeDispatchExecutor(_ queue: WorkQueue, flags: UInt32, _ thread: ThreadPointer)
    -> ExecutorPointer?
{
    if flags == VOW_SERIAL { return serialExecutor(on: queue, thread) }
    let kind: ExecutorKind = flags == VOW_BARRIER ? .barrier : .dispatch
    let executor = makeExecutor(
        ExecutorRecord(kind, isSerial: false, isImmortal: false, queue: queue))
    if executor != nil { queue.retain() }
    return executor
}

/// One executor for each serial queue of the program, however often it is asked for: a wait that blocks
/// the queue must be recognised by each.
private func serialExecutor(on queue: WorkQueue, _ thread: ThreadPointer) -> ExecutorPointer? {
    if queue == .main {
        isMainExecutorUsed.set()
        return ownExecutors.main
    }
    if let known = listedExecutor(on: queue) { return known }
    let executor = makeExecutor(
        ExecutorRecord(.serial, isSerial: true, isImmortal: false, queue: queue))
    guard let executor else { return nil }
    queue.retain()
    guard let known = listUnlessKnown(executor, on: queue) else { return executor }
    executor.release(thread)
    return known
}

func makeCustomExecutor(
    _ cls: UnsafePointer<vow_executor_class>, _ context: UnsafeMutableRawPointer?
) -> ExecutorPointer? {
    let isSerial = cls.pointee.flags & VOW_SERIAL != 0
    let executor = makeExecutor(ExecutorRecord(.custom, isSerial: isSerial, isImmortal: false))
    if let executor {
        #if VOW_CHECKED
            executor.classCopy.initialize(to: ClassCopy(cls))
        #endif
        executor.pointee.cls = cls
        executor.pointee.context = context
        if cls.pointee.current != nil { list(executor) }
    }
    return executor
}

/// - Parameter loop: the memory of a loop that will be made.
func makeLoopExecutor(_ loop: UnsafeMutableRawPointer) -> ExecutorPointer? {
    let executor = makeExecutor(ExecutorRecord(.loop, isSerial: true, isImmortal: false))
    executor?.pointee.context = loop
    return executor
}

private func makeExecutor(
    _ record: consuming ExecutorRecord, nameSize: Int = 0
) -> ExecutorPointer? {
    guard let memory = takeMemory(sizeOf(record.kind, nameSize: nameSize)) else { return nil }
    let executor = memory.bindMemory(to: ExecutorRecord.self, capacity: 1)
    executor.initialize(to: record)
    executor.pointee.nameSize = nameSize
    return executor
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ExecutorRecord {
    /// Relaxed: the caller has a reference already.
    @inline(__always)
    func retain() {
        if !pointee.isImmortal { _ = pointee.counts.addRelaxed(1) }
    }

    @inline(__always)
    func release(_ thread: ThreadPointer) { release(1, thread) }

    /// Several references at once.
    @inline(__always)
    func release(_ count: UInt64, _ thread: ThreadPointer) {
        if pointee.isImmortal || count == 0 { return }
        if pointee.counts.subtractAcquireRelease(count) == count { reclaim(self, thread) }
    }
}

/// Nobody has a reference; called by the loop that frees.
func freeExecutor(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    if executor.pointee.isListed { unlist(executor) }
    executor.pointee.queue?.release()
    if executor.pointee.kind == .loop { freeLoop(executor.loop) }
    if let cls = executor.checkedClass {
        if let destroy = cls.pointee.destroy {
            runForeign(thread) { destroy(executor.pointee.context) }
        }
    }
    #if VOW_CHECKED
        executor.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(executor, sizeOf(executor.pointee.kind, nameSize: executor.pointee.nameSize))
}

private func sizeOf(_ kind: ExecutorKind, nameSize: Int) -> Int {
    let size = MemoryLayout<ExecutorRecord>.stride + nameSize
    return kind == .custom ? size + sizeOfClassCopy : size
}
