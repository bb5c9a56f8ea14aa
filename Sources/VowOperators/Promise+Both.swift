// &&&: both values, as a pair.

public import Vow

/// Both values; the first failure, as soon as there is one. The other promise is let go of then.
public func &&& <Left, Right, Failure: Error>(
    left: Promise<Left, Failure>, right: Promise<Right, Failure>
) -> Promise<(Left, Right), Failure> {
    Promise<(Left, Right), Failure>.all(left, right)
}

/// The same of promises with different failures.
public func &&& <Left, Right, LeftFailure: Error, RightFailure: Error>(
    left: Promise<Left, LeftFailure>, right: Promise<Right, RightFailure>
) -> Promise<(Left, Right), any Error> {
    left.eraseFailure() &&& right.eraseFailure()
}

/// A promise's value and one that is there already.
public func &&& <Left, Right: Sendable, Failure: Error>(
    left: Promise<Left, Failure>, right: Right
) -> Promise<(Left, Right), Failure> {
    left.paired(with: right)
}

/// A value that is there already and a promise's.
public func &&& <Left: Sendable, Right, Failure: Error>(
    left: Left, right: Promise<Right, Failure>
) -> Promise<(Left, Right), Failure> {
    right.mapped { (left, $0) }
}
