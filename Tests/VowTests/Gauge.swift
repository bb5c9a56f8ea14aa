// How many are somewhere at a time.

import Synchronization

final class Gauge: Sendable {
    private let now = Atomic(0)
    private let most = Atomic(0)

    var highest: Int { most.load(ordering: .acquiring) }

    func within(_ body: () -> Void) {
        let count = now.add(1, ordering: .acquiringAndReleasing).newValue
        most.max(count, ordering: .acquiringAndReleasing)
        body()
        now.subtract(1, ordering: .acquiringAndReleasing)
    }
}
