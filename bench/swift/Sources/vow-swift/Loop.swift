// W12: one thread hands work to a loop, the other one runs it there.

import Harness
import Vow

private let ran = Counter()
// Made when it is first asked for: to be on the thread of a loop changes how that thread waits.
private let loop = try! PromiseLoop()

func makeLoop() { _ = loop }

func loopItems(_ n: Int) {
    duel(n, run, against: submit)
    expect(ran.take() == n, "W12")
}

private func run(_ n: Int) {
    var count = 0
    while count < n { count += try! loop.runOnce() }
}

private func submit(_ n: Int) {
    let executor = loop.executor
    for _ in 0..<n { _ = Promise<Void, any Error>(on: executor) { ran.add() } }
}
