// W1 to W5 and W7: on the pool of tasks.

import Harness

/// The nearest to a promise that is made and resolved: a continuation, which is no object at all.
@Sendable
func resumeAtOnce(_ n: Int) async {
    var sum = 0
    for _ in 0..<n { sum += await withUnsafeContinuation { $0.resume(returning: 1) } }
    expect(sum == n, "W1")
}

@Sendable
func chain(_ n: Int) async {
    let first = Pending()
    var last = first.task
    for _ in 0..<n {
        let previous = last
        last = .immediate { await previous.value + 1 }
    }
    first.continuation.resume(returning: 0)
    expect(await last.value == n, "W2")
}

@Sendable
func thenOnSettled(_ n: Int) async {
    let ran = Counter()
    let settled = Task { 1 }
    _ = await settled.value
    for _ in 0..<n {
        Task.immediate {
            let value = await settled.value
            ran.add()
            return value + 1
        }
    }
    expect(ran.take() == n, "W3")
}

@Sendable
func manyHandlers(_ n: Int) async {
    let pending = Pending()
    let task = pending.task
    var handlers: [Task<Int, Never>] = []
    handlers.reserveCapacity(n)
    for _ in 0..<n { handlers.append(.immediate { await task.value }) }
    pending.continuation.resume(returning: 1)
    var sum = 0
    for handler in handlers { sum += await handler.value }
    expect(sum == n, "W4")
}

/// Tasks that run already are awaited one after the other.
@Sendable
func all(_ n: Int) async {
    var pending: [Pending] = []
    pending.reserveCapacity(n)
    for _ in 0..<n { pending.append(Pending()) }
    let tasks = pending.map(\.task)
    let together = Task.immediate {
        var values: [Int] = []
        values.reserveCapacity(tasks.count)
        for task in tasks { values.append(await task.value) }
        return values
    }
    for (value, one) in pending.enumerated() { one.continuation.resume(returning: value) }
    expect(await together.value.reduce(0, +) == n * (n - 1) / 2, "W5")
}

/// A function that returns a promise is an async function here.
@Sendable
func recursion(_ n: Int) async {
    let ran = Counter()
    expect(await countDown(n, ran) == 0, "W7")
    expect(ran.take() == n + 1, "W7: levels")
}

@inline(never)
private func countDown(_ left: Int, _ ran: Counter) async -> Int {
    ran.add()
    if left == 0 { return 0 }
    let result = await countDown(left - 1, ran)
    return result
}
