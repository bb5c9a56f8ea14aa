// The core's use of the system besides memory and threads: standard error, the end of the program when a rule is broken, forks,
// random numbers, and libdispatch's C functions.
//
// Every thread reads two flags: `forkedFlag` says that the process is a forked child, `refusalFlag` that the library takes no
// more work. The random numbers spread retries; they are not for secrets.

import CVowPlatform

// MARK: Lines on standard error

func writeToStandardError(_ bytes: UnsafePointer<CChar>, _ length: Int) {
    _ = vow_platform_write(2, bytes, length)
}

func writeToStandardError(_ text: StaticString) {
    text.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { chars in
            if let start = chars.baseAddress { writeToStandardError(start, chars.count) }
        }
    }
}

/// Ends the program and names the broken rule: for impossible states, and for misuse that a checked build finds.
@inline(never)
func fatal(_ rule: StaticString, _ detail: StaticString = "") -> Never {
    fatal(rule, detail, "", "")
}

func fatal(
    _ first: StaticString, _ second: StaticString, _ third: StaticString, _ fourth: StaticString
) -> Never {
    writeToStandardError("vow: ")
    writeToStandardError(first)
    writeToStandardError(second)
    writeToStandardError(third)
    writeToStandardError(fourth)
    writeToStandardError("\n")
    abort()
}

// MARK: The state of the process

/// 1 in a forked child, where the pool's and libdispatch's threads are gone. Relaxed: the child's only thread wrote it.
let forkedFlag = AtomicWord(0)

@inline(__always)
var isForkedChild: Bool { forkedFlag.loadRelaxed() != 0 }

/// Not 0 in a forked child and after `vow_shutdown`: executors that need such threads take no more work.
let refusalFlag = AtomicWord(0)

@inline(__always)
var refusesWork: Bool { refusalFlag.loadRelaxed() != 0 }

func watchForks(
    before: @convention(c) () -> Void,
    inParent: @convention(c) () -> Void,
    inChild: @convention(c) () -> Void
) {
    _ = pthread_atfork(before, inParent, inChild)
}

// MARK: Random numbers

/// The counter of Splitmix64. Relaxed: it publishes nothing.
private let randomState = AtomicWord(0)

/// From 0 to less than 1.
func randomFraction() -> Double {
    // Seeded on first use; the seeds of two threads add up.
    if randomState.loadRelaxed() == 0 {
        var place: UInt8 = 0
        let address = withUnsafePointer(to: &place) { UInt64(UInt(bitPattern: $0)) }
        _ = randomState.addRelaxed(UInt64(bitPattern: monotonicNow()) &+ address << 32 | 1)
    }
    var bits = randomState.addRelaxed(0x9e37_79b9_7f4a_7c15)
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    bits ^= bits >> 31
    return Double(bits >> 11) * 0x1p-53
}

// MARK: libdispatch

typealias DispatchWork = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// A dispatch queue. Its holder counts it with `retain` and `release`.
struct WorkQueue: Equatable {
    private let object: UnsafeMutableRawPointer

    /// Nil: the process has no libdispatch, so the pointer is no queue.
    init?(_ pointer: UnsafeMutableRawPointer) {
        if vow_platform_has_queues() == 0 { return nil }
        object = pointer
    }

    /// Nil: the process has no libdispatch.
    static var main: WorkQueue? { vow_platform_main_queue().flatMap { WorkQueue($0) } }

    var address: UnsafeRawPointer { UnsafeRawPointer(object) }

    var label: UnsafePointer<CChar>? { vow_platform_queue_label(object) }

    func retain() { vow_platform_retain_queue(object) }
    func release() { vow_platform_release_queue(object) }

    func submit(_ context: UnsafeMutableRawPointer?, _ work: @escaping DispatchWork) {
        vow_platform_submit(object, context, work)
    }

    func submitBarrier(_ context: UnsafeMutableRawPointer?, _ work: @escaping DispatchWork) {
        vow_platform_submit_barrier(object, context, work)
    }
}
