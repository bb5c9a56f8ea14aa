// W9 and W11: many pending futures.

import Harness
import OpenCombine

private let ran = Counter()

/// What a pass keeps.
private final class Kept {
    var fulfills: [IntFuture.Promise] = []
    var sinks: [AnyCancellable] = []

    func make(_ n: Int, _ link: (IntFuture) -> AnyCancellable) {
        fulfills.reserveCapacity(n)
        sinks.reserveCapacity(n)
        for _ in 0..<n {
            let (future, fulfill) = pending()
            fulfills.append(fulfill)
            sinks.append(link(future))
        }
    }
}

/// W9: what keeps the futures pending is held, and what keeps their handlers.
struct Held {
    private let kept = Kept()

    var workload: Workload {
        .held(
            begin: { n in
                kept.fulfills.reserveCapacity(n)
                kept.sinks.reserveCapacity(n)
            },
            clean: { n in
                for fulfill in kept.fulfills { fulfill(.success(1)) }
                expect(ran.take() == n, "W9")
            },
            { n in
                kept.make(n) { $0.sink { _ in ran.add() } }
            })
    }
}

/// W11
struct Cancelling {
    private let kept = Kept()

    var workload: Workload {
        .plain(
            prepare: { n in
                kept.make(n) { future in future.map { $0 + 1 }.sink { _ in ran.add() } }
            },
            { _ in
                for sink in kept.sinks { sink.cancel() }
                kept.sinks.removeAll(keepingCapacity: true)
                kept.fulfills.removeAll(keepingCapacity: true)
                expect(ran.take() == 0, "W11: a cancelled handler ran")
            })
    }
}
