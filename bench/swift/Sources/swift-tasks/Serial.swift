// W6: an actor is the serial queue.

import Harness

private actor Serial {
    private var ran = 0

    func handle(_ task: Task<Int, Never>) async -> Int {
        let value = await task.value
        ran += 1
        return value + 1
    }

    func take() -> Int {
        defer { ran = 0 }
        return ran
    }
}

private let serial = Serial()

/// W6a
@Sendable
func serialChain(_ n: Int) async {
    let first = Pending()
    var last = first.task
    for _ in 0..<n {
        let previous = last
        last = .immediate { await serial.handle(previous) }
    }
    first.continuation.resume(returning: 0)
    expect(await last.value == n, "W6a")
    expect(await serial.take() == n, "W6a: handlers")
}

/// W6c
@Sendable
func serialHandlers(_ n: Int) async {
    let pending = Pending()
    let task = pending.task
    var handlers: [Task<Int, Never>] = []
    handlers.reserveCapacity(n)
    for _ in 0..<n { handlers.append(.immediate { await serial.handle(task) }) }
    pending.continuation.resume(returning: 0)
    for handler in handlers { _ = await handler.value }
    expect(await serial.take() == n, "W6c")
}
