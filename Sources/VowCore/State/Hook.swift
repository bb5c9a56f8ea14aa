// What a producer has asked to be called when its work is no longer wanted.

import CVow

typealias HookPointer = UnsafeMutablePointer<Hook>
typealias HookFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

struct Hook {
    var next: HookPointer?
    let fn: HookFunction
    var context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    /// Decided when it leaves its promise: to be called, or only destroyed.
    var isCalled = false
    /// Only while nobody has resolved this promise, which nobody reads; one producer's reference.
    var unread: RecordPointer?
}

/// Nil without memory.
func makeHook(
    _ fn: @escaping HookFunction, _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?
)
    -> HookPointer?
{
    guard let memory = takeMemory(MemoryLayout<Hook>.stride) else { return nil }
    let hook = memory.bindMemory(to: Hook.self, capacity: 1)
    hook.initialize(to: Hook(fn: fn, context: context, destroy: destroy))
    return hook
}
