// W8 and W10: two threads against each other.

import Harness
import Vow

private let ran = SharedCounter()

/// W8: each side resolves a promise and blocks on the other's. The second thread's are the upper half.
struct RoundTrips {
    private let pairs = Pairs()

    var workload: Workload {
        .plain(
            prepare: { pairs.make(2 * $0) }, clean: { _ in pairs.free() },
            { n in duel(n, ping, against: pong) })
    }

    private func ping(_ n: Int) {
        for i in 0..<n {
            pairs.resolvers[i].fulfill(i)
            expect(try! pairs.promises[n + i].wait() == i, "W8")
        }
    }

    private func pong(_ n: Int) {
        for i in 0..<n {
            let value = try! pairs.promises[i].wait()
            pairs.resolvers[n + i].fulfill(value)
        }
    }
}

/// W10: one registers, the other one settles.
struct Race {
    private let pairs = Pairs()

    var workload: Workload {
        .plain(
            prepare: { pairs.make($0) }, clean: { _ in pairs.free() },
            { n in
                duel(n, register, against: resolve)
                expect(ran.take() == n, "W10")
            })
    }

    private func register(_ n: Int) {
        let inline = PromiseExecutor.inline
        let promises = pairs.promises
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 0, round: i / duelStride) }
            promises[i].map(on: inline) { value in
                ran.add()
                return value
            }
        }
    }

    private func resolve(_ n: Int) {
        let resolvers = pairs.resolvers
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 1, round: i / duelStride) }
            resolvers[i].fulfill(1)
        }
    }
}
