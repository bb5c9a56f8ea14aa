// W6: every handler hops to an executor of libdispatch's.

import Harness
import Vow

let serial = PromiseExecutor.serial("bench")
private let ran = Counter()

/// W6a, W6b
func hops(_ n: Int, on executor: PromiseExecutor) {
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<n { last = last.map(on: executor) { $0 + 1 } }
    resolver.fulfill(0)
    expect(try! last.wait() == n, "W6")
}

/// W6c
func serialHandlers(_ n: Int) {
    let serial = serial
    let (promise, resolver) = IntPromise.pending()
    for _ in 1..<n { promise.onSuccess(on: serial) { _ in ran.add() } }
    let last = promise.done(on: serial) { _ in ran.add() }
    resolver.fulfill(1)
    try! last.wait()
    expect(ran.take() == n, "W6c")
}
