// W9 and W11: many pending promises.

import Harness
import Vow

private let inline = PromiseExecutor.inline
private let ran = Counter()

/// W9: only what keeps the promises pending is held.
struct Held {
    private final class Resolvers { var all: [IntResolver] = [] }
    private let resolvers = Resolvers()

    var workload: Workload {
        .held(
            begin: { resolvers.all.reserveCapacity($0) },
            clean: { n in
                for resolver in resolvers.all { resolver.fulfill(1) }
                expect(ran.take() == n, "W9")
            },
            { n in
                let inline = inline
                for _ in 0..<n {
                    let (promise, resolver) = IntPromise.pending()
                    promise.onSuccess(on: inline) { _ in ran.add() }
                    resolvers.all.append(resolver)
                }
            })
    }
}

/// W11: the reader cancels its link, which goes up to the promise; then all is freed.
struct Cancelling {
    private let pairs = Pairs()

    var workload: Workload {
        .plain(
            prepare: { n in
                let inline = inline
                pairs.make(n) { promise in
                    promise.map(on: inline) { value in
                        ran.add()
                        return value
                    }
                }
            },
            { _ in
                for promise in pairs.promises { expect(promise.cancel(), "W11") }
                pairs.free()
                expect(ran.take() == 0, "W11: a cancelled handler ran")
            })
    }
}
