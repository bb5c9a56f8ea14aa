// A value that is there, or a promise of it.

import CVow

/// A property's type: its promise at first, and its value once that is there.
///
/// ```swift
/// var avatar: PromiseOrValue<Image, any Error>
/// Promise.all([avatar, .value(placeholder)]).done { images in … }
/// ```
public enum PromiseOrValue<Success: Sendable, Failure: Error>: Sendable {
    case value(Success)
    case promise(Promise<Success, Failure>)

    /// The value, if it is there by now.
    public var value: Success? {
        switch self {
        case .value(let value): value
        case .promise(let promise): promise.isFulfilled ? try? promise.result?.get() : nil
        }
    }

    /// Keeps the value instead of its promise, if it is there by now.
    public mutating func settle() {
        if let value { self = .value(value) }
    }
}

extension PromiseOrValue: PromiseConvertible {
    public var promise: Promise<Success, Failure> {
        switch self {
        case .value(let value): .value(value)
        case .promise(let promise): promise
        }
    }
}

/// Nothing is a promise that is fulfilled with nothing.
extension Optional: PromiseConvertible where Wrapped: PromiseConvertible {
    public var promise: Promise<Wrapped.Success?, Wrapped.Failure> {
        guard let wrapped = self?.promise else { return .value(nil) }
        return wrapped.mapped { $0 }
    }
}

extension Promise {
    /// Looking at the state does not count as having handled a failure.
    fileprivate var isFulfilled: Bool { state == .fulfilled }
}
