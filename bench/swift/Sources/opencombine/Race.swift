// W10: one thread registers, the other one settles.

import Harness
import OpenCombine

private let ran = SharedCounter()

/// Its arrays are made by one thread; each is changed by one at a time.
final class Race: @unchecked Sendable {
    private var pairs: [(future: IntFuture, fulfill: IntFuture.Promise)] = []
    private var sinks: [AnyCancellable] = []

    var workload: Workload {
        .plain(
            prepare: { n in
                self.pairs = (0..<n).map { _ in pending() }
                self.sinks.reserveCapacity(n)
            },
            clean: { _ in self.sinks.removeAll(keepingCapacity: true) },
            { n in
                duel(n, self.register, against: self.resolve)
                expect(ran.take() == n, "W10")
            })
    }

    private func register(_ n: Int) {
        let pairs = pairs
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 0, round: i / duelStride) }
            sinks.append(pairs[i].future.sink { _ in ran.add() })
        }
    }

    private func resolve(_ n: Int) {
        let pairs = pairs
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 1, round: i / duelStride) }
            pairs[i].fulfill(.success(1))
        }
    }
}
