// A test or two of each chapter of vow.h, as Swift reads the header. Tests/c has the rest.

import CVow
import Dispatch
import Foundation
import XCTest

// Tests chapter 1 as a Swift program sees it: values.

/// What a class of objects counts.
private final class Thing {
    let destroyed: Counter
    init(_ destroyed: Counter) { self.destroyed = destroyed }
}

private func destroyThing(_ pointer: UnsafeMutableRawPointer?) {
    Unmanaged<Thing>.fromOpaque(pointer!).takeRetainedValue().destroyed.add()
}

/// A class of objects for as long as the body runs.
func withClass(
    destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil,
    subscribe: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer) -> Bool)? = nil,
    size: Int = MemoryLayout<vow_class>.size, _ body: (UnsafePointer<vow_class>) -> Void
) {
    "thing".withCString { name in
        var cls = vow_class(size: size, name: name, destroy: destroy, subscribe: subscribe)
        withUnsafePointer(to: &cls, body)
    }
}

final class ValuesTests: CTest {
    private func text(_ value: vow_value) -> String? {
        vow_string_bytes(value, nil).map { String(cString: $0) }
    }

    func testAStringIsACopyOfItsBytes() {
        var length = 99
        let whole = vow_string("héllo", Int(bitPattern: SIZE_MAX))
        XCTAssertEqual(text(whole), "héllo")
        XCTAssertEqual(vow_string_bytes(whole, &length).map { strlen($0) }, 6)
        XCTAssertEqual(length, 6)
        let part = vow_string("héllo", 1)
        XCTAssertEqual(text(part), "h")
        let empty = vow_string(nil, 0)
        XCTAssertEqual(text(empty), "")
        XCTAssertEqual(length, 6)
        _ = vow_string_bytes(empty, &length)
        XCTAssertEqual(length, 0)
        for value in [whole, part, empty] { vow_value_release(value) }
    }

    func testAnObjectIsFoundUnderItsClassAndDestroyedOnce() {
        let destroyed = Counter()
        withClass(destroy: destroyThing) { cls in
            withClass { other in
                let pointer = Unmanaged.passRetained(Thing(destroyed)).toOpaque()
                let object = vow_object(pointer, cls)
                XCTAssertEqual(vow_object_pointer(object, cls), pointer)
                XCTAssertEqual(vow_object_pointer(object, nil), pointer)
                XCTAssertNil(vow_object_pointer(object, other))
                vow_value_release(vow_value_retain(object))
                XCTAssertEqual(destroyed.value, 0)
                vow_value_release(object)
                XCTAssertEqual(destroyed.value, 1)
            }
        }
    }
}

// Tests chapter 2: errors and their codes.

final class ErrorsTests: CTest {
    func testAnErrorHasDomainCodeMessageAndPayload() {
        let plain = vow_error("net", 404, "not found")
        XCTAssertEqual(plain.kind, VOW_ERROR)
        XCTAssertEqual(String(cString: vow_error_domain(plain)!), "net")
        XCTAssertEqual(vow_error_code(plain), 404)
        XCTAssertEqual(String(cString: vow_error_message(plain)!), "not found")
        XCTAssertEqual(vow_error_payload(plain).kind, VOW_NONE)
        let wrapped = vow_error_wrap("app", .min, nil, plain)
        XCTAssertEqual(String(cString: vow_error_message(wrapped)!), "")
        XCTAssertEqual(vow_error_code(wrapped), .min)
        XCTAssertEqual(vow_error_code(vow_error_payload(wrapped)), 404)
        vow_value_release(wrapped)
    }
}

// Tests chapter 3: reading and settling.

final class PromisesTests: CTest {
    func testAPromiseIsPendingThenSettledForEver() {
        let (promise, resolver) = create()
        var value = vow_int(1)
        XCTAssertEqual(vow_promise_state(promise), VOW_PENDING)
        XCTAssertFalse(vow_promise_peek(promise, &value))
        XCTAssertEqual(value.kind, VOW_NONE)
        XCTAssertTrue(vow_resolve(resolver, vow_int(5)))
        XCTAssertEqual(vow_promise_state(promise), VOW_FULFILLED)
        XCTAssertTrue(vow_promise_peek(promise, &value))
        XCTAssertEqual(value.as.integer, 5)
        XCTAssertTrue(vow_promise_peek(promise, nil))
        vow_resolver_release(resolver)
        XCTAssertEqual(vow_promise_state(promise), VOW_FULFILLED)
        vow_promise_release(promise)
    }

    func testAThenableDecides() {
        withClass(subscribe: { _, resolver in finish(resolver, vow_int(11)) }) { cls in
            XCTAssertEqual(outcome(of: vow_promise_with(vow_object(nil, cls))), .integer(11))
        }
        withClass(subscribe: { _, resolver in
            vow_resolver_release(resolver)
            return false
        }) { cls in
            XCTAssertEqual(outcome(of: vow_promise_with(vow_object(nil, cls))), .other(VOW_OBJECT))
        }
    }
}

// Tests chapter 4: then, catch, finally, and everything that a reaction can say.

private func double(_ error: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(vow_error_code(error) * 2)
}

final class ChainingTests: CTest {
    func testThenRunsOnFulfilmentAndPassesARejection() {
        XCTAssertEqual(
            outcome(of: vow_then(vow_promise_with(vow_int(1)), addOne, nil)), .integer(2))
        XCTAssertEqual(outcome(of: vow_then(vow_promise_with(failure(9)), addOne, nil)), .error(9))
    }

    func testCatchRunsOnRejectionAndPassesAValue() {
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(failure(9)), double, nil)), .integer(18))
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(vow_int(1)), double, nil)), .integer(1))
    }

    func testAHandlerThatReturnsAPromiseIsWaitedFor() {
        let end = vow_then(
            vow_promise_with(vow_int(1)),
            { input, _ in
                vow_from_promise(vow_then(vow_promise_with(vow_value_retain(input)), addOne, nil))
            }, nil)
        XCTAssertEqual(outcome(of: vow_then(end, addOne, nil)), .integer(3))
    }

    func testFinallyPassesTheOutcomeOnUnlessItRejects() {
        let journal = Journal()
        for (value, wanted) in [(vow_int(5), Outcome.integer(5)), (failure(5), .error(5))] {
            let end = vow_finally(vow_promise_with(value), note, pointer(to: journal))
            XCTAssertEqual(outcome(of: end), wanted)
        }
        XCTAssertEqual(journal.entries, [5, -5])
        let rejects = vow_finally(vow_promise_with(vow_int(5)), { _, _ in failure(6) }, nil)
        XCTAssertEqual(outcome(of: rejects), .error(6))
        let waits = vow_finally(
            vow_promise_with(vow_int(5)),
            { _, _ in vow_from_promise(vow_promise_with(failure(7))) }, nil)
        XCTAssertEqual(outcome(of: waits), .error(7))
    }
}

// Tests chapter 5: waiting, and G11.

final class WaitingTests: CTest {

    func testG11_aWaitEndsBySettlingFromAnotherThread() {
        for timeout in [forever, oneMinute, Int64.max] {
            let (promise, resolver) = create()
            nonisolated(unsafe) let theirs = resolver
            let elsewhere = DispatchGroup()
            DispatchQueue.global().async(group: elsewhere) {
                usleep(2000)
                finish(theirs, vow_int(6))
            }
            var value = vow_none()
            XCTAssertEqual(vow_await(promise, timeout, &value), Int32(VOW_FULFILLED))
            XCTAssertEqual(value.as.integer, 6)
            elsewhere.wait()
            vow_promise_release(promise)
        }
    }
}

// Tests chapter 6: where handlers run, and async.

/// The C handle inside Dispatch's Swift object.
private func handle(of queue: DispatchQueue) -> UnsafeMutableRawPointer {
    let wrapped = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }
    return UnsafeMutableRawPointer(wrapped?.value as! OpaquePointer)
}

private let key = DispatchSpecificKey<Int>()

/// Hands on the number of the queue that it runs on.
private func whereAmI(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(Int64(DispatchQueue.getSpecific(key: key) ?? 0))
}

private func noteKind(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    context!.object(Journal.self).write(Int(input.kind))
    return vow_int(5)
}

final class ExecutorsTests: CTest {
    override func tearDown() {
        vow_executor_set_default(nil)
        super.tearDown()
    }

    func testAsyncRunsOnTheExecutorAndGivesItsResult() {
        let thread = Journal()
        XCTAssertEqual(
            outcome(of: vow_async(vow_executor_inline(), noteKind, pointer(to: thread))),
            .integer(5))
        XCTAssertEqual(thread.entries, [Int(VOW_NONE)])
        XCTAssertEqual(thread.threads, [pthread_self()])
        let elsewhere = Journal()
        XCTAssertEqual(outcome(of: vow_async(nil, noteKind, pointer(to: elsewhere))), .integer(5))
        XCTAssertFalse(elsewhere.threads.contains(pthread_self()))
        XCTAssertEqual(outcome(of: vow_async(nil, { _, _ in failure(3) }, nil)), .error(3))
    }

    func testHandlersRunOnTheProgramsOwnQueues() {
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        serial.setSpecific(key: key, value: 1)
        concurrent.setSpecific(key: key, value: 2)
        for (queue, flags, number) in [
            (serial, UInt32(0), Int64(1)), (serial, VOW_SERIAL, 1), (serial, VOW_BARRIER, 1),
            (concurrent, 0, 2), (concurrent, VOW_BARRIER, 2),
        ] {
            let executor = vow_executor_dispatch(handle(of: queue), flags)!
            XCTAssertEqual(outcome(of: vow_async(executor, whereAmI, nil)), .integer(number))
            vow_executor_release(executor)
        }
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), 4))
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), VOW_SERIAL | VOW_BARRIER))
    }
}

// Tests that chapter 9 is there for Swift: cancelling, hooks, sources and tokens.

private let cancelled = Outcome.error(Int64(VOW_ECANCELLED))

/// Counts calls and ends of a hook.
private final class Calls {
    let journal = Journal()
}

private func called(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(1)
}

private func ended(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(-1)
}

final class CancellationTests: CTest {
    private let calls = Calls()
    private var entries: [Int] { calls.journal.entries }

    func testCancellingAPromiseRejectsItAtOnce() {
        let (promise, resolver) = create()
        XCTAssertTrue(vow_cancel(promise))
        XCTAssertEqual(vow_promise_state(promise), VOW_REJECTED)
        XCTAssertEqual(outcome(of: promise), cancelled)
        vow_resolver_release(resolver)
    }

    func testATokensHookIsCalledOnceOrAtOnceIfItIsCancelledAlready() {
        let source = vow_cancel_source_create()!
        let token = vow_cancel_source_token(source)!
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        vow_cancel_source_cancel(source)
        XCTAssertEqual(entries, [1, -1])
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        XCTAssertEqual(entries, [1, -1, 1, -1])
        vow_cancel_source_release(source)
    }
}

// Tests chapter 10, and the time-outs and retries of chapter 8.

/// Calls a combinator with promises (consumed).
private func combine(
    _ promises: [OpaquePointer],
    _ body: (UnsafePointer<OpaquePointer?>, Int) -> OpaquePointer
) -> OpaquePointer {
    promises.map { Optional($0) }.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }
}

/// Waits for a promise (consumed), and looks at its value or error.
private func outcomeValue<Result>(
    of promise: OpaquePointer, _ body: (vow_value) -> Result
) -> Result {
    var out = vow_none()
    XCTAssertGreaterThan(vow_await(promise, oneMinute, &out), 0)
    defer {
        vow_value_release(out)
        vow_promise_release(promise)
    }
    return body(out)
}

private func integers(_ list: vow_value) -> [Int64] {
    (0..<vow_list_count(list)).map { vow_list_at(list, $0).as.integer }
}

private func list(_ count: Int64) -> vow_value {
    let items = (0..<count).map { vow_int($0) }
    return vow_list(items, items.count)
}

private func some(_ count: Int64) -> [OpaquePointer] {
    (0..<count).map { vow_promise_with(vow_int($0)) }
}

final class CombinatorsTests: CTest {

    func testMapReduceAndRepeat() {
        let map = vow_map(list(5), addOne, nil, 2)
        XCTAssertEqual(outcomeValue(of: map, integers), [1, 2, 3, 4, 5])
        let sum = combine(some(5)) { promises, count in
            vow_reduce(
                promises, count, vow_int(100),
                { sum, item, _ in vow_int(sum.as.integer + item.as.integer) }, nil)
        }
        XCTAssertEqual(outcome(of: sum), .integer(110))
        let loop = vow_repeat(vow_int(0), { state, _ in state.as.integer < 10 }, addOne, nil)
        XCTAssertEqual(outcome(of: loop), .integer(10))
    }

    func testAScopeWaitsForItsMembers() {
        let scope = vow_scope_create()!
        let (member, resolver) = create()
        XCTAssertEqual(vow_scope_add(scope, member), 0)
        let end = vow_scope_close(scope)
        XCTAssertEqual(vow_promise_state(end), VOW_PENDING)
        finish(resolver, failure(4))
        XCTAssertEqual(outcome(of: end), .error(4))
    }

    func testTimeoutAndRetry() {
        let (slow, resolver) = create()
        XCTAssertEqual(outcome(of: vow_timeout(slow, 1_000_000)), .error(Int64(VOW_ETIMEDOUT)))
        vow_resolver_release(resolver)
        let second = vow_retry(
            nil, { number, _ in number.as.integer < 2 ? failure(1) : vow_value_retain(number) }, nil
        )
        XCTAssertEqual(outcome(of: second), .integer(2))
        outcomeValue(of: vow_retry(nil, { _, _ in failure(3) }, nil)) {
            XCTAssertEqual(vow_error_attempts($0), 3)
        }
    }
}

// Tests chapter 11, sentence by sentence.

/// Returns the context that it runs with.
private func read(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_value_retain(vow_context_get())
}

final class ContextTests: CTest {
    override func tearDown() {
        vow_context_set(vow_none())
        super.tearDown()
    }

    func testEachReactionGetsTheValueThatWasSetWhereItWasMadeAndRunsWithIt() {
        for executor in [vow_executor_inline(), vow_executor_pool()] {
            let (promise, resolver) = create()
            vow_context_set(vow_int(1))
            let first = link(vow_promise_retain(promise)!, on: executor, fulfilled: read)
            vow_context_set(vow_int(2))
            let second = link(promise, on: executor, rejected: nil)
            let third = link(second, on: executor, fulfilled: read)
            vow_context_set(vow_int(3))
            finish(resolver, vow_none())
            XCTAssertEqual(outcome(of: first), .integer(1))
            XCTAssertEqual(outcome(of: third), .integer(2))
        }
    }
}

// Tests chapter 12: who is told of a rejection that nobody observed.

final class UnhandledTests: CTest {
    private let reports = Journal()

    override func setUp() {
        super.setUp()
        vow_on_unhandled(
            { error, context in context!.object(Journal.self).write(Int(vow_error_code(error))) },
            pointer(to: reports))
    }

    override func tearDown() {
        vow_on_unhandled(nil, nil)
        super.tearDown()
    }

    func testG10_aRejectionNobodyObservedIsReportedOnce() {
        let promise = vow_promise_with(failure(3))
        _ = vow_promise_retain(promise)
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [])
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [3])
    }
}

// Tests chapters 8 and 9: the allocator's moment, the version, and the counters.

final class StatisticsTests: CTest {

    func testStatisticsCountEachStep() {
        let before = statistics()
        let (promise, resolver) = create()
        let derived = link(vow_promise_retain(promise)!, fulfilled: pass)
        var now = statistics()
        XCTAssertEqual(now.created - before.created, 2)
        XCTAssertEqual(now.live - before.live, 2)
        XCTAssertEqual(now.pending - before.pending, 2)
        XCTAssertEqual(now.handlers - before.handlers, 1)
        XCTAssertEqual(now.settled, before.settled)
        XCTAssertGreaterThan(now.bytes, before.bytes)
        finish(resolver, vow_none())
        now = statistics()
        XCTAssertEqual(now.settled - before.settled, 2)
        XCTAssertEqual(now.pending, before.pending)
        XCTAssertEqual(now.handlers, before.handlers)
        XCTAssertEqual(now.live - before.live, 2)
        vow_promise_release(promise)
        vow_promise_release(derived)
        now = statistics()
        XCTAssertEqual(now.live, before.live)
        XCTAssertEqual(now.bytes, before.bytes)
        XCTAssertEqual(now.created - before.created, 2)
    }
}

// Tests progress through the header, from Swift.

/// What a listener heard.
private final class Ear: @unchecked Sendable {
    private let lock = NSLock()
    private var heard: [(Double, String?)] = []
    private var ends = 0

    func hear(_ fraction: Double, _ note: String?) {
        lock.withLock { heard.append((fraction, note)) }
    }
    func end() { lock.withLock { ends += 1 } }

    var fractions: [Double] { lock.withLock { heard.map(\.0) } }
    var notes: [String?] { lock.withLock { heard.map(\.1) } }
    var endCount: Int { lock.withLock { ends } }
}

final class ProgressTests: CTest {
    private func listen(_ promise: OpaquePointer, every interval: Int64 = 0, _ ear: Ear) -> Int32 {
        vow_executor_set_default(vow_executor_inline())
        defer { vow_executor_set_default(nil) }
        return vow_on_progress(
            promise, interval,
            { fraction, note, context in
                context!.object(Ear.self).hear(fraction, note.map { String(cString: $0) })
            }, owned(ear),
            { context in
                context!.object(Ear.self).end()
                releaseContext(context)
            })
    }

    func testAListenerHearsWhatIsSet() {
        let ear = Ear()
        let (promise, resolver) = create()
        XCTAssertEqual(listen(promise, ear), 0)
        XCTAssertEqual(vow_promise_set_progress(promise, 0.25, "reading"), 0)
        XCTAssertEqual(vow_resolver_set_progress(resolver, 0.5, nil), 0)
        XCTAssertEqual(ear.fractions, [0.25, 0.5])
        XCTAssertEqual(ear.notes, ["reading", nil])
        finish(resolver, vow_int(1))
        XCTAssertEqual(vow_promise_set_progress(promise, 0.75, nil), 0)
        XCTAssertEqual(ear.fractions, [0.25, 0.5])
        XCTAssertEqual(ear.endCount, 0)
        vow_promise_release(promise)
        XCTAssertEqual(ear.endCount, 1)
    }
}

// Tests tracing through the header, from Swift: what is written is read by Foundation.

final class TracingTests: CTest {
    private let path = NSTemporaryDirectory() + "vow-tracing-\(getpid()).json"

    override func tearDown() {
        _ = vow_trace_stop()
        unlink(path)
        super.tearDown()
    }

    private func events() throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let whole = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try XCTUnwrap(whole["traceEvents"] as? [[String: Any]])
    }

    func testTheHistoryIsJSONAndTellsOfAChain() throws {
        _ = vow_trace_stop()
        XCTAssertEqual(vow_trace_start(path), 0)
        XCTAssertEqual(vow_trace_start(path), VOW_EINVAL)
        let (promise, resolver) = create()
        vow_promise_set_label(promise, "the \"first\"\n\u{1F600}")
        let next = link(promise, fulfilled: addOne)
        vow_promise_set_label(next, "next")
        finish(resolver, vow_int(1))
        vow_promise_release(next)
        XCTAssertEqual(vow_trace_stop(), 0)
        let events = try events()
        let begun = events.filter { $0["ph"] as? String == "b" }
        let first = try XCTUnwrap(
            begun.first { $0["name"] as? String == "the \"first\"\n\u{1F600}" })
        let then = try XCTUnwrap(begun.first { $0["name"] as? String == "next" })
        let arguments = try XCTUnwrap(then["args"] as? [String: Any])
        XCTAssertEqual(arguments["reads"] as? String, first["id"] as? String)
        XCTAssertEqual(arguments["kind"] as? String, "then")
        let ended = events.first { $0["ph"] as? String == "e" && $0["name"] as? String == "next" }
        XCTAssertEqual((ended?["args"] as? [String: Any])?["value"] as? String, "integer")
        XCTAssertTrue(events.contains { $0["cat"] as? String == "handler" })
    }
}
