// One of two, and which.

/// The value of `|||` if its promises are of different types.
public enum Either<Left, Right> {
    case left(Left)
    case right(Right)

    /// The left one, if it is that.
    public var left: Left? {
        if case .left(let value) = self { value } else { nil }
    }

    /// The right one, if it is that.
    public var right: Right? {
        if case .right(let value) = self { value } else { nil }
    }
}

extension Either: Sendable where Left: Sendable, Right: Sendable {}
extension Either: Equatable where Left: Equatable, Right: Equatable {}
extension Either: Hashable where Left: Hashable, Right: Hashable {}
