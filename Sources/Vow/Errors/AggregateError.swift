// Several failures as one.

/// The failure of `any` and `some` when not enough promises were fulfilled.
public struct AggregateError: Error, Sendable {
    /// Each with the place of its promise, in the order of the promises.
    public let errors: [MemberError<Int>]

    public init(errors: [MemberError<Int>]) { self.errors = errors }
}

extension AggregateError: CustomStringConvertible {
    public var description: String {
        "\(errors.count) failed: " + errors.map(\.description).joined(separator: "; ")
    }
}

/// The failure of one promise of several, and which: its index, or its key in a dictionary.
public struct MemberError<Label: Hashable & Sendable>: Error, Sendable {
    public let label: Label
    public let underlying: any Error

    public init(label: Label, underlying: any Error) {
        self.label = label
        self.underlying = underlying
    }
}

extension MemberError: CustomStringConvertible {
    public var description: String { "\(label): \(underlying)" }
}
