// Where every byte of the core comes from.

import CVowPlatform

/// The process-wide allocator. Set before the first thread enters the core, then only read, so the
/// reads need no ordering: `Threads.enter` publishes it under its lock.
struct AllocatorHooks {
    typealias Allocate = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
    typealias Deallocate =
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int) -> Void

    var allocate: Allocate?
    var deallocate: Deallocate?
    var context: UnsafeMutableRawPointer?
}

nonisolated(unsafe) var allocatorHooks = AllocatorHooks()

/// Memory aligned to 16, because the state word keeps its state in the low bits of addresses.
@inline(__always)
func allocateMemory(_ size: Int) -> UnsafeMutableRawPointer? {
    if allocatorHooks.allocate == nil { return malloc(size) }
    return allocateFromHooks(size)
}

@inline(__always)
func freeMemory(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    #if VOW_CHECKED
        quarantine(memory, size)
    #else
        returnMemory(memory, size)
    #endif
}

/// At once: of what no handle leads to.
@inline(__always)
func returnMemory(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    if let deallocate = allocatorHooks.deallocate {
        deallocate(allocatorHooks.context, memory, size)
    } else {
        free(memory)
    }
}

@inline(never)
private func allocateFromHooks(_ size: Int) -> UnsafeMutableRawPointer? {
    guard let memory = allocatorHooks.allocate?(allocatorHooks.context, size) else { return nil }
    if UInt(bitPattern: memory) & 15 != 0 {
        fatal("vow_set_allocator: allocate returned memory that is not aligned to 16 bytes")
    }
    return memory
}

#if VOW_CHECKED
    /// A checked build keeps freed objects for a while instead of giving them back, so that a handle
    /// used after its release still finds the mark of a dead object.
    private let quarantineLock = SpinLock()
    nonisolated(unsafe) private var quarantineNext = 0

    private func quarantine(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        var old = vow_freed(memory: memory, size: size)
        quarantineLock.withLock {
            swap(&old, &vow_platform_freed()[quarantineNext])
            quarantineNext = (quarantineNext + 1) % Int(VOW_FREED_COUNT)
        }
        if let oldest = old.memory { returnMemory(oldest, old.size) }
    }
#endif

/// Around a fork: the quarantine of a checked build has a lock.
func lockFreedMemory() {
    #if VOW_CHECKED
        quarantineLock.lock()
    #endif
}

func unlockFreedMemory() {
    #if VOW_CHECKED
        quarantineLock.unlock()
    #endif
}
