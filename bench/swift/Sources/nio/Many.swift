// W9: many pending promises; only what keeps them pending is held.

import Harness
import NIOCore

private let ran = Counter()

struct Held {
    private final class Promises { var all: [EventLoopPromise<Int>] = [] }
    private let promises = Promises()

    var workload: Workload {
        .held(
            begin: { promises.all.reserveCapacity($0) },
            clean: { n in
                for promise in promises.all { promise.succeed(1) }
                expect(ran.take() == n, "W9")
            },
            { n in
                let loop = embedded
                for _ in 0..<n {
                    let promise = loop.makePromise(of: Int.self)
                    promise.futureResult.whenSuccess { _ in ran.add() }
                    promises.all.append(promise)
                }
            })
    }
}
