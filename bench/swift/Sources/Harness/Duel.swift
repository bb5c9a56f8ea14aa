// Two threads, each on a processor of its own, that work against each other; as bench/peers/common/duel.c.

import CPeer
import Glibc
import Synchronization

/// How many items the two do between meetings, so that they stay side by side.
public let duelStride = 16

/// Runs `first` on the calling thread and `second` on the other one, at the same time; returns when both have ended. The
/// other thread is made once and kept.
public func duel(_ n: Int, _ first: (Int) -> Void, against second: @escaping (Int) -> Void) {
    Duel.shared.run(n, first, second)
}

/// Both call it with the same rising number, from 0: neither goes on before the other is there.
public func duelMeet(side: Int, round: Int) { Duel.shared.meet(side: side, round: round) }

private final class Duel: @unchecked Sendable {
    static let shared = Duel()

    private var gate = pthread_barrier_t()
    private var work: (Int) -> Void = { _ in }
    private var count = 0
    private let first = Side(), second = Side()

    private init() {
        pthread_barrier_init(&gate, nil, 2)
        let object = Unmanaged.passUnretained(self).toOpaque()
        var thread = pthread_t()
        let made = pthread_create(&thread, nil, secondThread, object)
        expect(made == 0, "no thread")
        cpeer_pin(0)
    }

    func run(_ n: Int, _ first: (Int) -> Void, _ second: @escaping (Int) -> Void) {
        work = second
        count = n
        self.first.at.store(0, ordering: .relaxed)
        self.second.at.store(0, ordering: .relaxed)
        pthread_barrier_wait(&gate)
        first(n)
        pthread_barrier_wait(&gate)
    }

    func runSecond() -> Never {
        cpeer_pin(1)
        while true {
            pthread_barrier_wait(&gate)
            work(count)
            pthread_barrier_wait(&gate)
        }
    }

    func meet(side: Int, round: Int) {
        let (mine, other) = side == 0 ? (first, second) : (second, first)
        mine.at.store(round + 1, ordering: .releasing)
        var looks = 0
        while other.at.load(ordering: .acquiring) <= round {
            looks += 1
            if looks >= 1000 { sched_yield() }  // The other one may not be running.
        }
    }
}

/// Where a side is; on cache lines of its own.
private final class Side: Sendable {
    let before: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
    let at = Atomic<Int>(0)
    let after: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
}

private func secondThread(_ object: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    Unmanaged<Duel>.fromOpaque(object!).takeUnretainedValue().runSecond()
}
