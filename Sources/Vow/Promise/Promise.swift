// The promise of the Swift face: the core's own record, typed.

public import CVow
public import CVowPlatform

/// A result that is there or will be: pending, then fulfilled with a `Success` or rejected with a `Failure`, for ever.
///
/// A promise is a reference to work that is done elsewhere. Copies are the same promise; it lives as long as a copy, or a
/// handler on it. Handlers run exactly once, in the order in which they were attached, never inside one another and never
/// while the library holds a lock. Any thread may use it.
///
/// `Failure` is the type of its errors, as in `Result` and `Task`: `any Error`, a type of your own, or `Never` for a
/// promise that cannot fail. ``PromiseFailure`` describes the library's own rejections.
public struct Promise<Success: Sendable, Failure: Error>: Sendable {
    // Never nil: see PromiseHandle.swift.
    @usableFromInline let counted: PromiseHandle?

    @inlinable @inline(__always)
    var handle: PromiseHandle { counted.unsafelyUnwrapped }

    /// Takes a reference (consumed) over.
    @inlinable
    init(owned promise: OpaquePointer) { counted = .taking(promise) }

    @inlinable
    init(same handle: PromiseHandle) { counted = handle }

    /// The same promise with other types, to which its values must belong.
    @inlinable
    func retyped<NewSuccess, NewFailure>() -> Promise<NewSuccess, NewFailure> {
        Promise<NewSuccess, NewFailure>(same: handle)
    }

    /// The same promise for failures of a type that includes this promise's.
    @inlinable
    func widened<NewFailure>() -> Promise<Success, NewFailure> {
        Self.isLeftAlone(by: NewFailure.self) ? shielded().retyped() : retyped()
    }

    /// Whether the cancellation of a promise with failures of this type leaves the promise that it waits for, of this kind,
    /// alone: the new failure type has a case for a cancellation, and the old type has none.
    @inlinable @inline(__always)
    static func isLeftAlone<NewFailure: Error>(by _: NewFailure.Type) -> Bool {
        if Failure.self == (any Error).self || Failure.self == NewFailure.self { return false }
        return !isCancellable && Promise<Success, NewFailure>.isCancellable
    }

    /// Itself as a value (owned), for a promise with failures of this type to follow.
    @inlinable
    func followed<Outer: Error>(by _: Outer.Type) -> vow_value {
        if Outer.self == Failure.self { return cValue }
        let promise: Promise<Success, Outer> = widened()
        return promise.cValue
    }

    /// Calls `body` with the core's promise, borrowed. Swift may release a value after its last use, so this call keeps it.
    @inlinable @inline(__always)
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(handle) { body(handle.promise) }
    }

    /// This copy's reference, owned by the caller from now on.
    @inlinable @inline(__always)
    consuming func takePointer() -> OpaquePointer {
        let handle = handle
        // So the promise is handed on without being counted, if this copy is the only one.
        _ = consume self
        return PromiseHandle.promise(of: consume handle)
    }

    /// One more reference, owned by the caller.
    @inlinable
    func retainedPointer() -> OpaquePointer {
        withPointer {
            _ = vow_promise_retain($0)
            return $0
        }
    }
}

/// A promise that cannot be rejected.
public typealias Guarantee<Success: Sendable> = Promise<Success, Never>

extension Promise: Hashable {
    /// Whether both are the same promise, and not whether their results are equal.
    public static func == (left: Promise, right: Promise) -> Bool {
        left.withPointer { left in right.withPointer { left == $0 } }
    }

    public func hash(into hasher: inout Hasher) { withPointer { hasher.combine($0) } }
}
