// What Swift's face takes, as ratios within this process: beside the same through C's functions, a task's value, a checked
// continuation. Each is the least of many rounds that alternate.

import CVow
import Vow
import Work

/// How often a round is run, by turns.
private let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 60

nonisolated private func measure(_ timed: inout [Timed]) {
    let clock = ContinuousClock()
    for round in 0...rounds {
        for place in timed.indices {
            timed[place].prepare()
            let took = clock.measure(timed[place].run)
            let (seconds, attoseconds) = took.components
            let each =
                (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(timed[place].items)
            if round > 0 { timed[place].least = min(timed[place].least, each) }
        }
    }
}

nonisolated private func show(_ timed: [Timed]) {
    let found = Dictionary(uniqueKeysWithValues: timed.map { ($0.title, $0.least) })
    for one in timed {
        var line = "\(one.title): ".padded(to: 46) + one.least.rounded(to: 1).leading(to: 9) + " ns"
        if let base = found[one.base] {
            line += (one.least / base).rounded(to: 2).leading(to: 8) + " times " + one.base
            if let limit = one.limit {
                line += one.least / base <= limit ? ", at most \(limit)" : ", NOT at most \(limit)"
            }
        }
        print(line)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension Double {
    fileprivate func rounded(to places: Int) -> String {
        let scale = places == 1 ? 10.0 : 100.0
        return "\((self * scale).rounded() / scale)"
    }
}

extension String {
    fileprivate func leading(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}

private final class Thing: Sendable {}

/// Links that pass a value on.
@inline(__always)
nonisolated private func passing<Value: Sendable>(_ title: String, _ value: Value) -> Timed {
    Timed(title, beside: "link of an Int", atMost: 1.6, 1000) {
        for _ in 0..<10 {
            let (first, resolver) = Promise<Value, any Error>.pending()
            var last = first
            for _ in 0..<100 { last = last.map(on: .inline) { $0 } }
            resolver.fulfill(value)
            precondition(last.state == .fulfilled)
        }
    }
}

nonisolated private func all() -> [Timed] {
    let n = 1000
    let settled = Promise<Int, any Error>.value(1)
    let pool = PromiseExecutor.pool
    let cPool = vow_executor_pool()
    let inline = vow_executor_inline()
    return [
        Timed("C create", n) { cCreate(n) },
        Timed("Swift create", beside: "C create", atMost: 2.5, n) {
            for index in 0..<n { _ = createAndFulfil(index) }
        },
        Timed("C link, one of 100", 100 * 10) { for _ in 0..<10 { cChain(100, on: inline) } },
        Timed("Swift link, captures", beside: "C link, one of 100", atMost: 2.6, 100 * 10) {
            for _ in 0..<10 { _ = chain(100, capturing: 1) }
        },
        Timed("Swift link of a written chain", beside: "C link, one of 100", atMost: 2.6, 1000) {
            _ = writtenChains(1000, capturing: 1)
        },
        Timed("Swift link, captures nothing", beside: "C link, one of 100", atMost: 2, 1000) {
            for _ in 0..<10 { _ = plainChain(100) }
        },
        Timed("Swift link without on:", beside: "C link, one of 100", 1000) {
            for _ in 0..<10 { _ = chainHere(100) }
        },
        Timed("Swift link without on:, captures", beside: "C link, one of 100", 1000) {
            for _ in 0..<10 { _ = chainHere(100, capturing: 1) }
        },
        Timed("Swift flatMap", beside: "C link, one of 100", 1000) {
            for _ in 0..<10 { _ = flatChain(100) }
        },
        Timed("C link on the pool", 1000) { for _ in 0..<10 { cChain(100, on: cPool) } },
        Timed("Swift link on the pool", beside: "C link on the pool", atMost: 2.5, 1000) {
            for _ in 0..<10 { _ = chain(100, capturing: 1, waitingOn: pool) }
        },
        Timed("C all, each of 1,000", n) { cAll(n) },
        Timed("Swift all, each of 1,000", beside: "C all, each of 1,000", atMost: 2, n) {
            _ = Work.all(n)
        },
        Timed("Swift rejection and catch", beside: "Swift link, captures nothing", n) {
            _ = rejections(n, of: settled)
        },
        Timed("Swift rejection passes a link", beside: "Swift link, captures nothing", n) {
            _ = passing(n)
        },
        awaiting("a task's value", n) { await valueOfTask(n) },
        awaiting("await of a settled one", beside: "a task's value", atMost: 3, n) {
            _ = await sum(n, of: settled)
        },
        resuming("a checked continuation", n, ContinuationPlace(), takeContinuations),
        resuming("the same, cancellable", n, ContinuationPlace(), takeCancellably),
        resuming("an unsafe continuation", n, UnsafePlace(), takeUnsafely),
        resuming(
            "await of a pending one", beside: "the same, cancellable", atMost: 1.3, n, Place(),
            takePromises),
        resuming(
            "the same, made before", beside: "the same, cancellable", atMost: 1.3, n,
            MadePlace(n), takeMade),
        passing("link of an Int", 1),
        passing("link of 8 bytes", (Int32(1), Int32(2))),
        passing("link of 16 bytes", (1, 2)),
        passing("link of an object", Thing()),
        passing("link of a short String", "short"),
        passing("link of a String", String(repeating: "longer", count: 20)),
        passing("link of an [Int]", [1, 2, 3]),
    ]
}

var timed = all()
measure(&timed)
show(timed)
