// W1 to W5: handlers run inline, on one thread.

import Harness
import NIOCore
import NIOEmbedded

let embedded = EmbeddedEventLoop()
private let ran = Counter()

func createResolveRelease(_ n: Int) {
    let loop = embedded
    for _ in 0..<n {
        let promise = loop.makePromise(of: Int.self)
        promise.succeed(1)
    }
}

func chain(_ n: Int) {
    let promise = embedded.makePromise(of: Int.self)
    var last = promise.futureResult
    for _ in 0..<n { last = last.map { $0 + 1 } }
    promise.succeed(0)
    expect(try! last.wait() == n, "W2")
}

func thenOnSettled(_ n: Int) {
    let settled = embedded.makeSucceededFuture(1)
    for _ in 0..<n {
        _ = settled.map { value in
            ran.add()
            return value + 1
        }
    }
    expect(ran.take() == n, "W3")
}

func manyHandlers(_ n: Int) {
    let promise = embedded.makePromise(of: Int.self)
    let future = promise.futureResult
    for _ in 0..<n { future.whenSuccess { _ in ran.add() } }
    promise.succeed(1)
    expect(ran.take() == n, "W4")
}

func all(_ n: Int) {
    let loop = embedded
    let promises = (0..<n).map { _ in loop.makePromise(of: Int.self) }
    let together = EventLoopFuture.whenAllSucceed(promises.map(\.futureResult), on: loop)
    for (value, promise) in promises.enumerated() { promise.succeed(value) }
    expect(try! together.wait().reduce(0, +) == n * (n - 1) / 2, "W5")
}
