// An object of Foundation's as a promise's progress.

public import Foundation
public import Vow

extension PromiseResolver {
    /// An object for code that reports to a `Progress`: setting its `completedUnitCount` or `totalUnitCount` sets the
    /// progress of the promise. The object is cancelled when the promise is, or loses its last reader.
    ///
    /// A `Progress` that other code has made cannot be followed: elsewhere than on Apple's systems Foundation notifies no
    /// observer of a change. For the same reason the progress of this object's children is seen only when the object
    /// itself is set. The object keeps the resolver.
    public func makeProgress(totalUnitCount count: Int64) -> Progress {
        let progress = ReportingProgress { setProgress($0, note: $1) }
        progress.totalUnitCount = count
        progress.isCancellable = true
        onCancel { [weak progress] in progress?.cancel() }
        return progress
    }
}

/// Unchecked: another thread only cancels it, as a `Progress` allows.
private final class ReportingProgress: Progress, @unchecked Sendable {
    private let report: (Double, String?) -> Void

    init(_ report: @escaping (Double, String?) -> Void) {
        self.report = report
        super.init(parent: nil, userInfo: nil)
    }

    override var completedUnitCount: Int64 { didSet { tell() } }
    override var totalUnitCount: Int64 { didSet { tell() } }

    private func tell() {
        if isIndeterminate { return }
        let note = localizedAdditionalDescription ?? ""
        report(fractionCompleted, note.isEmpty ? nil : note)
    }
}
