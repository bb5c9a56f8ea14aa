// |||: the value that is there first.

public import Vow

/// The value of the promise that is fulfilled first; the other one is let go of. If both fail, an ``Vow/AggregateError``
/// with both failures, `left`'s first.
public func ||| <Value, LeftFailure: Error, RightFailure: Error>(
    left: Promise<Value, LeftFailure>, right: Promise<Value, RightFailure>
) -> Promise<Value, any Error> {
    Promise.any([left.eraseFailure(), right.eraseFailure()])
}

/// The same of promises of different types: also says which it was.
public func ||| <Left, Right, LeftFailure: Error, RightFailure: Error>(
    left: Promise<Left, LeftFailure>, right: Promise<Right, RightFailure>
) -> Promise<Either<Left, Right>, any Error> {
    left.eraseFailure().map(on: .inline) { Either<Left, Right>.left($0) }
        ||| right.eraseFailure().map(on: .inline) { Either<Left, Right>.right($0) }
}
