// How many are somewhere at a time.

import Synchronization

final class Gauge: Sendable {
    private let state = Mutex((now: 0, highest: 0))

    var highest: Int { state.withLock { $0.highest } }

    func within(_ body: () -> Void) {
        state.withLock { state in
            state.now += 1
            state.highest = max(state.highest, state.now)
        }
        body()
        state.withLock { $0.now -= 1 }
    }
}
