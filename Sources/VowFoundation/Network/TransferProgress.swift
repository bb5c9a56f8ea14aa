// How far a transfer has come.

/// How many bytes of a body have been transferred, and of how many.
public struct TransferProgress: Sendable, Hashable {
    public let completed: Int64
    /// nil: the other side has not said how much there is.
    public let total: Int64?

    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil: the other side has not said how much there is.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : Double(completed) / Double(total)
    }
}

extension TransferProgress: CustomStringConvertible {
    public var description: String { "\(completed) of \(total.map { "\($0)" } ?? "?") bytes" }
}

/// Is called with the progress of a transfer.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
