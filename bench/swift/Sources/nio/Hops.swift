// W6, W7 and W12: a loop with a thread of its own.

import Harness
import NIOCore
import NIOPosix

private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
private let ran = Counter()

/// A thread pool as big as libdispatch's, which the other peers use.
private let pool: NIOThreadPool = {
    let pool = NIOThreadPool(numberOfThreads: System.coreCount)
    pool.start()
    return pool
}()

/// W6a. The chain is built where it runs, as everybody does who knows that each link costs a hop elsewhere.
func loopChain(_ n: Int) {
    let loop = group.next()
    let promise = loop.makePromise(of: Int.self)
    let end = loop.flatSubmit {
        var last = promise.futureResult
        for _ in 0..<n { last = last.map { $0 + 1 } }
        return last
    }
    promise.succeed(0)
    expect(try! end.wait() == n, "W6a")
}

/// W6b
func poolChain(_ n: Int) {
    let (loop, pool) = (group.next(), pool)
    let promise = loop.makePromise(of: Int.self)
    let end = loop.flatSubmit {
        var last = promise.futureResult
        for _ in 0..<n {
            last = last.flatMap { value in pool.runIfActive(eventLoop: loop) { value + 1 } }
        }
        return last
    }
    promise.succeed(0)
    expect(try! end.wait() == n, "W6b")
}

/// W6c
func loopHandlers(_ n: Int) {
    let loop = group.next()
    let promise = loop.makePromise(of: Int.self)
    let end = loop.flatSubmit {
        let future = promise.futureResult
        for _ in 1..<n { future.whenSuccess { _ in ran.add() } }
        return future.map { _ in ran.add() }
    }
    promise.succeed(1)
    try! end.wait()
    expect(ran.take() == n, "W6c")
}

/// W7. Each level begins in a task of the loop: where it began in the handler of the one above, they would stand on each
/// other's stack, and who uses this library does not write that.
func recursion(_ n: Int) {
    expect(try! countDown(n, group.next()).wait() == 0, "W7")
    expect(ran.take() == n + 1, "W7: levels")
}

@Sendable
private func countDown(_ left: Int, _ loop: any EventLoop) -> EventLoopFuture<Int> {
    loop.flatSubmit {
        ran.add()
        return left == 0 ? loop.makeSucceededFuture(0) : countDown(left - 1, loop)
    }
}

/// W12. This library's loop has a thread of its own, and the caller is the one that submits.
func loopItems(_ n: Int) {
    let loop = group.next()
    for _ in 1..<n { loop.execute { ran.add() } }
    try! loop.submit { ran.add() }.wait()
    expect(ran.take() == n, "W12")
}
