// Chapter 4 of vow.h: a context that several links share, in memory of the library's with a count before it.

import CVow
import CVowPlatform

private struct SharedContext: ~Copyable {
    let count = AtomicWord(1)
    let size: Int
    let destroy: Destroy?
    #if VOW_CHECKED
        var seal = Seal.live(.box)
    #endif

    /// So that what follows is aligned as all memory is.
    static let header = (MemoryLayout<SharedContext>.size + 15) & ~15
}

@inline(__always)
private func shared(
    _ context: UnsafeMutableRawPointer?, _ function: StaticString
) -> UnsafeMutablePointer<SharedContext>? {
    guard let context else { return nil }
    let box = (context - SharedContext.header).assumingMemoryBound(to: SharedContext.self)
    #if VOW_CHECKED
        if box.pointee.seal != Seal.live(.box) {
            fatal(function, ": the box was released before (or is none)")
        }
    #endif
    return box
}

@_cdecl("vow_box_create") @implementation
public func vow_box_create(
    _ size: Int, _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> UnsafeMutableRawPointer! {
    _ = currentThread()
    guard canBeArray(size), let memory = takeMemory(SharedContext.header + size) else { return nil }
    memory.bindMemory(to: SharedContext.self, capacity: 1)
        .initialize(to: SharedContext(size: size, destroy: destroy))
    return memset(memory + SharedContext.header, 0, size)
}

@_cdecl("vow_box_retain") @implementation
public func vow_box_retain(_ box: UnsafeMutableRawPointer!) -> UnsafeMutableRawPointer! {
    // Relaxed: the caller has a reference.
    _ = shared(box, "vow_box_retain")?.pointee.count.addRelaxed(1)
    return box
}

@_cdecl("vow_box_release") @implementation
public func vow_box_release(_ box: UnsafeMutableRawPointer!) {
    guard let context = shared(box, "vow_box_release"),
        context.pointee.count.subtractAcquireRelease(1) == 1
    else { return }
    let thread = currentThread()
    if let destroy = context.pointee.destroy { runForeign(thread) { destroy(box) } }
    #if VOW_CHECKED
        context.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(context, SharedContext.header + context.pointee.size)
    leave(thread)
}
