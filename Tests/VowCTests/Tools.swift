// Helpers of the tests: a leak gate around each test, contexts, promises to try things on, threads.

import CVow
import XCTest

/// The library's counters.
func statistics() -> vow_statistics {
    var statistics = vow_statistics()
    statistics.size = MemoryLayout<vow_statistics>.size
    XCTAssertEqual(vow_stats(&statistics), 0)
    return statistics
}

/// The base of all suites here: a leak gate around each test.
class CTest: XCTestCase {
    private var before = vow_statistics()

    override func setUp() {
        super.setUp()
        before = statistics()
    }

    override func tearDown() {
        let before = before
        // Workers may still be giving back what they ran when the test had seen its results.
        eventually("the test gives back what it took") {
            let now = statistics()
            return now.live == before.live && now.pending == before.pending
                && now.handlers == before.handlers && now.bytes == before.bytes
        }
        super.tearDown()
    }
}

/// Fails unless the condition comes true within a minute.
func eventually(
    _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
) {
    for _ in 0..<300_000 {
        if condition() { return }
        usleep(200)
    }
    XCTFail("in a minute it did not happen that \(what)", file: file, line: line)
}

/// Long enough for everything that ends at all, in nanoseconds.
let oneMinute: Int64 = 60_000_000_000
/// vow.h's VOW_FOREVER, as wide as the time-out.
let forever = Int64(VOW_FOREVER)

/// Entries in the order in which they were made, from any thread.
final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var written: [Int] = []
    private var writers: [pthread_t] = []

    func write(_ entry: Int) {
        lock.withLock {
            written.append(entry)
            writers.append(pthread_self())
        }
    }

    var entries: [Int] { lock.withLock { written } }
    var threads: Set<pthread_t> { lock.withLock { Set(writers) } }
}

/// A context that is borrowed: the test keeps the object.
func pointer(to object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
}

/// A context that the library owns, until it calls `releaseContext`.
func owned(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
}

func releaseContext(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<AnyObject>.fromOpaque(context!).release()
}

extension UnsafeMutableRawPointer {
    func object<Object: AnyObject>(_: Object.Type) -> Object {
        Unmanaged<Object>.fromOpaque(self).takeUnretainedValue()
    }
}

/// Writes an integer down, or the negative code of an error, and hands the input on.
func note(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let number = input.kind == VOW_ERROR ? -vow_error_code(input) : input.as.integer
    context!.object(Journal.self).write(Int(number))
    return vow_value_retain(input)
}

func addOne(_ input: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(input.as.integer + 1)
}

func pass(_ input: vow_value, _: UnsafeMutableRawPointer?) -> vow_value { vow_value_retain(input) }

func create() -> (promise: OpaquePointer, resolver: OpaquePointer) {
    var resolver: OpaquePointer?
    let promise = vow_promise_create(&resolver)
    return (promise, resolver!)
}

/// Resolves, and gives the resolver back.
@discardableResult
func finish(_ resolver: OpaquePointer, _ value: vow_value) -> Bool {
    defer { vow_resolver_release(resolver) }
    return vow_resolve(resolver, value)
}

/// A link on the inline executor, or the one given; the promise is consumed.
func link(
    _ promise: OpaquePointer, on executor: OpaquePointer? = nil,
    context: UnsafeMutableRawPointer? = nil,
    destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil,
    fulfilled: vow_handler? = nil, rejected: vow_handler? = nil, flags: UInt32 = 0
) -> OpaquePointer {
    var reaction = vow_reaction()
    reaction.size = MemoryLayout<vow_reaction>.size
    reaction.on_fulfilled = fulfilled
    reaction.on_rejected = rejected
    reaction.context = context
    reaction.destroy = destroy
    reaction.executor = executor ?? vow_executor_inline()
    reaction.flags = flags
    return vow_then_with(promise, &reaction)
}

func failure(_ code: Int64) -> vow_value { vow_error("test", code, nil) }

/// The outcome of a promise (consumed), waited for: an integer, or an error's code.
enum Outcome: Equatable {
    case integer(Int64)
    case error(Int64)
    case other(vow_kind)
    case none(Int32)
}

func outcome(of promise: OpaquePointer) -> Outcome {
    defer { vow_promise_release(promise) }
    var value = vow_none()
    let result = vow_await(promise, oneMinute, &value)
    defer { vow_value_release(value) }
    if result == Int32(VOW_REJECTED) { return .error(vow_error_code(value)) }
    if result != Int32(VOW_FULFILLED) { return .none(result) }
    return value.kind == VOW_INT ? .integer(value.as.integer) : .other(value.kind)
}

/// A number that several threads change.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0

    func add(_ amount: Int = 1) { lock.withLock { number += amount } }

    var value: Int { lock.withLock { number } }
}
