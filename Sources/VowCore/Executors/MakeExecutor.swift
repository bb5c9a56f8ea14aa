// Making executors, finding them again, and freeing them. A maker returns nil without memory.
//
// The directory lists the executors that can be found again: custom ones that can tell whether a thread is theirs, and serial
// ones on queues of the program. All of it is under `directoryLock`.
//
// A thread remembers the custom executor that it belongs to (`AmbientMemory`). The memory is under `directoryLock` alone, also
// for the thread itself: threads that leave the same executor's list write it too. The memory keeps no executor: a freed
// executor is first taken out of all memories, and a remembered one is retained under the lock, unless its last reference is
// gone, before it is asked. A thread that ends leaves the list after its last foreign code.
//
// In a forked child most executors are left with the parent and run nothing.

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

/// Each serial queue of the program has one executor, however often it is asked for: so every wait that blocks the queue is
/// recognised.
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

/// - Parameter loop: memory for a loop, not yet initialised.
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

    @inline(__always)
    func release(_ count: UInt64, _ thread: ThreadPointer) {
        if pointee.isImmortal || count == 0 { return }
        if pointee.counts.subtractAcquireRelease(count) == count { reclaim(self, thread) }
    }
}

/// No reference is left. The loop that frees calls it.
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

// MARK: The directory

/// A count of 0 says without the lock that there is no ambient executor.
private let directoryLock = SpinLock()
private let ambientCount = AtomicWord(0)
nonisolated(unsafe) private var firstAmbient: ExecutorPointer?
/// The executors on queues. Written once, before any thread has entered.
nonisolated(unsafe) private var onQueues: AddressTablePointer! = nil

/// Takes memory from the front of `storage` and advances it.
func prepareExecutorDirectory(_ storage: inout UnsafeMutableRawPointer) {
    onQueues = AddressTable.make(&storage)
}

/// The custom executor that the thread belongs to, owned. Calls foreign code, so the caller holds no lock.
@inline(__always)
func ambientExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    ambientCount.loadAcquire() == 0 ? nil : findAmbientExecutor(thread)
}

/// Asks the remembered executor first, so that a thread which belongs to one does not pay for the others. A thread that
/// belongs to none asks all each time: no answer holds for the next time.
@inline(never)
private func findAmbientExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    let last = directoryLock.withLock { retained(thread.pointee.ambient.executor) }
    if let last, isCurrent(last, thread) { return last }
    let found = askAll(but: last, thread)
    last?.release(thread)
    if let found { directoryLock.withLock { thread.pointee.ambient.remember(found, thread) } }
    return found
}

func isCurrent(_ executor: ExecutorPointer, _ thread: ThreadPointer) -> Bool {
    guard let current = executor.checkedClass?.pointee.current else { return false }
    return runForeign(thread) { current(executor.pointee.context) }
}

/// Takes the lock for a few executors at a time.
private func askAll(but asked: ExecutorPointer?, _ thread: ThreadPointer) -> ExecutorPointer? {
    let few = 16
    return withUnsafeTemporaryAllocation(of: ExecutorPointer.self, capacity: few) { batch in
        var found: ExecutorPointer?
        // A reference keeps the last executor of a batch, and so its place in the list, until the next batch is taken.
        var last: ExecutorPointer?
        repeat {
            var count = 0
            directoryLock.withLock {
                var next = last == nil ? firstAmbient : last?.pointee.nextListed
                while let executor = next, count < few {
                    if retainUnlessDead(executor) {
                        batch[count] = executor
                        count += 1
                    }
                    next = executor.pointee.nextListed
                }
            }
            last?.release(thread)
            last = found == nil && count == few ? batch[few - 1] : nil
            for index in 0..<count {
                let executor = batch[index]
                if found == nil && executor != asked && isCurrent(executor, thread) {
                    found = executor
                } else if executor != last {
                    executor.release(thread)
                }
            }
        } while last != nil && found == nil
        if let last, last != found { last.release(thread) }
        return found
    }
}

/// The executor of a serial queue, owned.
func listedExecutor(on queue: WorkQueue) -> ExecutorPointer? {
    directoryLock.withLock { known(on: queue) }
}

/// The caller holds the lock. An executor without references is about to leave the table and is passed over.
private func known(on queue: WorkQueue) -> ExecutorPointer? {
    var place = onQueues.first(queue.address)
    while let current = place {
        // `place` is the first field.
        let executor = UnsafeMutableRawPointer(current).assumingMemoryBound(to: ExecutorRecord.self)
        if let known = retained(executor) { return known }
        place = current.nextLike
    }
    return nil
}

private func place(of executor: ExecutorPointer) -> TablePlace {
    UnsafeMutableRawPointer(executor).assumingMemoryBound(to: TableMember.self)
}

private func retained(_ executor: ExecutorPointer?) -> ExecutorPointer? {
    executor.flatMap { retainUnlessDead($0) ? $0 : nil }
}

private func retainUnlessDead(_ executor: ExecutorPointer) -> Bool {
    while true {
        let counts = executor.pointee.counts.loadRelaxed()
        if counts == 0 { return false }
        if executor.pointee.counts.replaceAcquire(counts, counts + 1).exchanged { return true }
    }
}

/// Lists an executor on a serial queue. If the queue has one already, returns that one, owned, and lists nothing.
func listUnlessKnown(_ executor: ExecutorPointer, on queue: WorkQueue) -> ExecutorPointer? {
    var isUntended = false
    let other: ExecutorPointer? = directoryLock.withLock {
        if let known = known(on: queue) { return known }
        executor.pointee.isListed = true
        onQueues.add(place(of: executor), queue.address)
        isUntended = onQueues.pointee.isUntended
        return nil
    }
    if isUntended { tend(onQueues, directoryLock) }
    return other
}

/// Lists a custom executor that can tell whether a thread is its own.
func list(_ executor: ExecutorPointer) {
    directoryLock.withLock {
        enter(executor)
        ambientCount.addAsOnlyWriter(1)
    }
}

/// The caller holds the lock.
private func enter(_ executor: ExecutorPointer) {
    executor.pointee.isListed = true
    executor.pointee.nextListed = firstAmbient
    firstAmbient?.pointee.previousListed = executor
    firstAmbient = executor
}

func unlist(_ executor: ExecutorPointer) {
    let isUntended = directoryLock.withLock {
        if executor.pointee.kind == .custom {
            leave(executor)
            ambientCount.addAsOnlyWriter(UInt64.max)
            forgetByAll(executor)
            return false
        }
        let place = place(of: executor)
        if place.pointee.key != nil { onQueues.remove(place) }
        return onQueues.pointee.isUntended
    }
    if isUntended { tend(onQueues, directoryLock) }
}

private func leave(_ executor: ExecutorPointer) {
    let next = executor.pointee.nextListed
    let previous = executor.pointee.previousListed
    next?.pointee.previousListed = previous
    if let previous { previous.pointee.nextListed = next } else { firstAmbient = next }
}

func lockExecutorDirectory() { directoryLock.lock() }
func unlockExecutorDirectory() { directoryLock.unlock() }

/// In a forked child, under the lock: no other thread is left.
func forgetAmbientsOfOthers(but survivor: ThreadPointer?) {
    var executor = firstAmbient
    while let current = executor {
        current.pointee.firstRemembering = nil
        executor = current.pointee.nextListed
    }
    if let survivor { survivor.pointee.ambient.beAlone(survivor) }
}

func forgetAmbient(_ thread: ThreadPointer) {
    directoryLock.withLock { thread.pointee.ambient.forget() }
}

// MARK: In a forked child

/// The executor runs nothing in a forked child, so only a thread of the parent can have claimed the reaction.
func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
    reaction.pointee.shape.isReaction && (reaction.executor?.isLeftWithParent ?? false)
}

extension ExecutorPointer {
    /// In a forked child such an executor runs nothing.
    var isLeftWithParent: Bool {
        switch pointee.kind {
        case .pool, .serial, .dispatch, .barrier: return true
        case .loop: return loop.isCopy
        case .inline, .custom: return false
        }
    }
}
