// The object that shows a promise's progress.

import Foundation
import Vow

/// May go from thread to thread, although its base does not say so: its maker has named the executor that uses
/// it.
final class ObservingProgress: Progress, @unchecked Sendable {
    /// Ends the listening, which the promise would keep.
    let end = CancellationSource()
    private let note = Guarded("")

    init(totalUnitCount count: Int64) {
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = count
    }

    deinit { end.cancel() }

    // Foundation has none of its own elsewhere than on Apple's systems.
    override var localizedAdditionalDescription: String! {
        get { note.withLock { $0 } }
        set { note.withLock { [newValue] in $0 = newValue ?? "" } }
    }

    func tell(_ fraction: Double, _ text: String?) {
        if isFinished { return }
        localizedAdditionalDescription = text
        let completed = Int64(fraction * Double(totalUnitCount))
        // A parent forgets a child that is finished.
        completedUnitCount = min(completed, totalUnitCount - 1)
    }

    func finish() {
        // The handler holds the promise.
        cancellationHandler = nil
        localizedAdditionalDescription = nil
        completedUnitCount = totalUnitCount
    }
}
