// Short ways to make, link, settle and look at promises through the core's own functions.

import CVow
import XCTest

@testable import VowCore

func openPromise() -> RecordPointer {
    makePromise(.open, producers: 1, currentThread())!
}

/// What `vow_resolve` does, and the resolver is released with it.
@discardableResult
func resolveLast(_ promise: RecordPointer, _ value: vow_value) -> Bool {
    let thread = currentThread()
    let isFirst = resolve(promise, whileIn: .open, value, .given, thread)
    if !isFirst {
        value.release(thread)
        promise.releaseProducer(thread)
    }
    leave(thread)
    return isFirst
}

/// A link on a promise (consumed), inline unless said otherwise.
func link(
    _ promise: RecordPointer, _ shape: Shape = [.link, .onFulfilled],
    on executor: ExecutorPointer? = nil,
    with context: AnyObject? = nil, _ handler: @escaping Handler
) -> RecordPointer {
    let thread = currentThread()
    let derived = react(
        to: promise,
        Reaction(
            shape: shape, handler: handler, context: context.map(pointer(to:)),
            executor: executor ?? ownExecutors.inline), thread)
    leave(thread)
    return derived
}

/// The same, on a promise that the caller keeps.
func branch(
    _ promise: RecordPointer, _ shape: Shape = [.link, .onFulfilled],
    on executor: ExecutorPointer? = nil,
    with context: AnyObject? = nil, _ handler: @escaping Handler
) -> RecordPointer {
    promise.retain()
    return link(promise, shape, on: executor, with: context, handler)
}

func drop(_ promises: RecordPointer...) {
    let thread = currentThread()
    for promise in promises { promise.release(thread) }
    leave(thread)
}

func phase(of promise: RecordPointer) -> Phase { promise.pointee.state.read().phase }

func drop(_ value: vow_value) {
    let thread = currentThread()
    value.release(thread)
    leave(thread)
}

/// How many: so many are enough for every day, and `full` with TEST_DEPTH=full in the environment.
func manyOf(_ enough: Int, full: Int) -> Int {
    getenv("TEST_DEPTH").map { String(cString: $0) } == "full" ? full : enough
}

/// Waits for a promise, and fails when it does not settle within a minute.
func expectSettled(_ promise: RecordPointer, file: StaticString = #filePath, line: UInt = #line) {
    let result = wait(for: promise, until: .after(60_000_000_000), currentThread())
    guard case .settled = result else {
        return XCTFail("the wait ended with \(result)", file: file, line: line)
    }
}

/// The members of a list, in order.
func members(_ list: SlotList) -> [RecordPointer] {
    var found: [RecordPointer] = []
    var member = list.first
    while let current = member {
        found.append(current)
        member = current.next
    }
    return found
}

/// Records that stand in no promise's queue, for lists and state words; freed at the end.
func withRecords(_ count: Int, _ body: ([RecordPointer]) -> Void) {
    let thread = currentThread()
    let records = (0..<count).map { _ in makePromise(.open, producers: 0, thread)! }
    body(records)
    for record in records {
        record.pointee.counts.storeRelaxed(1)
        record.release(thread)
    }
}

/// The same with a lane: links that read no promise and have no handler.
func withLinks(_ count: Int, _ body: ([RecordPointer]) -> Void) {
    let thread = currentThread()
    let links = (0..<count).map { _ in bareLink(thread) }
    body(links)
    for link in links {
        link.pointee.counts.storeRelaxed(1)
        link.release(thread)
    }
}

private func bareLink(_ thread: ThreadPointer) -> RecordPointer {
    let shape = Shape.link
    let link = takeMemory(shape.recordSize)!.bindMemory(to: Record.self, capacity: 1)
    link.initialize(to: Record(.open, shape: shape, promises: 1, producers: 0))
    link.link.initialize(to: LinkPart(handler: nil, context: nil, executor: nil))
    count(thread.cell.pointee.counters.promisesMade)
    return link
}

/// Every order of the items.
func permutations<Item>(of items: [Item]) -> [[Item]] {
    if items.count <= 1 { return [items] }
    return items.indices.flatMap { index in
        var rest = items
        let first = rest.remove(at: index)
        return permutations(of: rest).map { [first] + $0 }
    }
}
