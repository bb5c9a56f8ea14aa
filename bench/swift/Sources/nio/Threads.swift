// W8 and W10: two threads against each other.
//
// A future belongs to a loop: a thread that is not the loop's hands everything to it, settling and waiting, too.

import Harness
import NIOCore
import NIOPosix

private let ran = SharedCounter()

private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

/// Made before a pass; read by two threads at a time.
private final class Promises: @unchecked Sendable {
    var all: [EventLoopPromise<Int>] = []

    func make(_ n: Int) {
        let loop = group.next()
        all = (0..<n).map { _ in loop.makePromise(of: Int.self) }
    }
}

/// W8: the second thread's are the upper half.
struct RoundTrips {
    private let promises = Promises()

    var workload: Workload {
        .plain(
            prepare: { promises.make(2 * $0) }, clean: { _ in promises.all = [] },
            { n in duel(n, ping, against: pong) })
    }

    private func ping(_ n: Int) {
        let all = promises.all
        for i in 0..<n {
            all[i].succeed(i)
            expect(try! all[n + i].futureResult.wait() == i, "W8")
        }
    }

    private func pong(_ n: Int) {
        let all = promises.all
        for i in 0..<n { all[n + i].succeed(try! all[i].futureResult.wait()) }
    }
}

/// W10: one registers, the other one settles; handlers run on the loop.
struct Race {
    private let promises = Promises()

    var workload: Workload {
        .plain(
            prepare: { promises.make($0) }, clean: { _ in promises.all = [] },
            { n in
                duel(n, register, against: resolve)
                ran.spin(until: n)
                expect(ran.take() == n, "W10")
            })
    }

    private func register(_ n: Int) {
        let all = promises.all
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 0, round: i / duelStride) }
            all[i].futureResult.whenSuccess { _ in ran.add() }
        }
    }

    private func resolve(_ n: Int) {
        let all = promises.all
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 1, round: i / duelStride) }
            all[i].succeed(1)
        }
    }
}
