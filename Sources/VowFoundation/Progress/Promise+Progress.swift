// A promise's progress as an object of Foundation's.

public import Foundation
public import Vow

extension Promise {
    /// An object that shows how far the work for this promise is: `fractionCompleted`, and the note as
    /// `localizedAdditionalDescription`. It is finished when the promise is settled, either way, and not before.
    /// Cancelling it, or the object that it is a child of, cancels the promise, if its failure type allows that.
    ///
    /// The object reads the promise for as long as it lives: work that nobody else waits for goes on until it is let go
    /// of. The promise does not keep the object. Elsewhere than on Apple's systems a `Progress` may be used by one thread
    /// at a time, and nobody is told when it changes.
    ///
    /// ```swift
    /// let whole = Progress(totalUnitCount: 2)
    /// whole.addChild(pages.asProgress(on: .main), withPendingUnitCount: 1)
    /// whole.addChild(images.asProgress(on: .main), withPendingUnitCount: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - executor: where the object is changed. Name one that runs one handler at a time, and use the object there.
    ///   - interval: at least this long lies between two changes, as for `onProgress`.
    ///   - count: how many units the work is divided into, at least one.
    public func asProgress(
        on executor: PromiseExecutor, every interval: Duration = .zero,
        totalUnitCount count: Int64 = 1000
    ) -> Progress {
        precondition(count > 0, "asProgress: no units")
        let progress = ObservingProgress(totalUnitCount: count)
        if !isPending {
            progress.finish()
            return progress
        }
        if Self.isCancellable {
            progress.isCancellable = true
            progress.cancellationHandler = { _ = cancelNow() }
        } else {
            progress.isCancellable = false
        }
        let end = progress.end.token
        onProgress(every: interval, on: executor, cancelledBy: end) { [weak progress] in
            progress?.tell($0, $1)
        }
        onSettled(on: executor, cancelledBy: end) { [weak progress] in progress?.finish() }
        return progress
    }
}
