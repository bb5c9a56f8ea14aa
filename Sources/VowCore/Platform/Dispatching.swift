// libdispatch's C functions, as the core uses them.

import CDispatch
import CVowPlatform

typealias DispatchWork = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// A dispatch queue. Whoever holds one says whether it is counted: `retain` and `release` are explicit.
struct WorkQueue: Equatable {
    private let object: OpaquePointer

    /// A queue of the program, from C.
    init(_ pointer: UnsafeMutableRawPointer) { object = OpaquePointer(pointer) }

    private init(object: OpaquePointer) { self.object = object }

    static var main: WorkQueue { WorkQueue(object: dispatch_get_main_queue()) }

    var address: UnsafeRawPointer { UnsafeRawPointer(object) }

    var label: UnsafePointer<CChar>? { dispatch_queue_get_label(object) }

    func retain() { vow_platform_retain_queue(UnsafeMutableRawPointer(object)) }
    func release() { vow_platform_release_queue(UnsafeMutableRawPointer(object)) }

    @inline(__always)
    func submit(_ context: UnsafeMutableRawPointer?, _ work: @escaping DispatchWork) {
        dispatch_async_f(object, context, work)
    }

    @inline(__always)
    func submitBarrier(_ context: UnsafeMutableRawPointer?, _ work: @escaping DispatchWork) {
        dispatch_barrier_async_f(object, context, work)
    }
}
