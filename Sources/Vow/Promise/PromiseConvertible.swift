// Types that can be converted to promises.

/// A type whose values are promises, or can be made into one.
public protocol PromiseConvertible<Success, Failure>: SendableMetatype {
    associatedtype Success: Sendable
    associatedtype Failure: Error

    var promise: Promise<Success, Failure> { get }
}

extension Promise: PromiseConvertible {
    @inlinable public var promise: Promise { self }
}
