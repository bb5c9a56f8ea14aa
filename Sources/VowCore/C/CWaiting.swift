// Chapter 5 of vow.h: waiting.

import CVow

@_cdecl("vow_await") @implementation
public func vow_await(
    _ promise: OpaquePointer!, _ timeout_ns: Int64, _ out: UnsafeMutablePointer<vow_value>!
) -> Int32 {
    out?.pointee = vow_none()
    guard let record = promiseRecord(promise, "vow_await"), timeout_ns >= Int64(VOW_FOREVER) else {
        return VOW_EINVAL
    }
    let thread = currentThread()
    if !record.pointee.state.read().hasValue {
        if timeout_ns == 0 { return Int32(VOW_PENDING) }
        checkHandlersAreThere(thread)
        let deadline: Deadline = timeout_ns == Int64(VOW_FOREVER) ? .never : .after(timeout_ns)
        let result = wait(for: record, until: deadline, thread)
        leave(thread)
        switch result {
        case .settled: break
        case .timedOut: return Int32(VOW_PENDING)
        case .deadlock: return VOW_EDEADLOCK
        case .forked: return VOW_EFORKED
        case .noThread: return VOW_ENOMEM
        case .shutDown, .isBusy: fatal("a wait without a loop ended as if it had one")
        }
    }
    let value = record.value
    if value.isError { record.pointee.isObserved.set() }
    out?.pointee = value.retained()
    return Int32(value.isError ? VOW_REJECTED : VOW_FULFILLED)
}
