// The right to decide about a promise.

public import CVow
public import CVowPlatform

/// Settles one promise, from any thread. The first call decides; later calls return false and have no effect.
///
/// When the last copy goes away without a decision, the promise is rejected with ``PromiseError/broken``.
public struct PromiseResolver<Success: Sendable, Failure: Error>: Sendable {
    // Never nil: see PromiseHandle.swift.
    @usableFromInline let counted: ResolverHandle?

    @inlinable @inline(__always)
    var handle: ResolverHandle { counted.unsafelyUnwrapped }

    /// Takes a reference (consumed) over.
    @inlinable
    init(owned resolver: OpaquePointer) { counted = .taking(resolver) }

    init(same handle: ResolverHandle) { counted = handle }

    @inlinable @inline(__always)
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(handle) { body(handle.pointer) }
    }

    @discardableResult
    @inlinable
    public func fulfill(_ value: Success) -> Bool {
        withPointer { vow_resolve($0, encode(value)) }
    }

    @discardableResult
    @inlinable
    public func reject(_ failure: Failure) -> Bool {
        withPointer { vow_reject($0, encodeError(failure)) }
    }

    @discardableResult
    @inlinable
    public func resolve(with result: Result<Success, Failure>) -> Bool {
        switch result {
        case .success(let value): fulfill(value)
        case .failure(let failure): reject(failure)
        }
    }

    /// Has the promise follow another promise. This decides, but does not settle: no other call can decide any more, and
    /// the promise stays pending as long as the other promise is.
    @discardableResult
    @inlinable
    public func follow(_ promise: Promise<Success, Failure>) -> Bool {
        withPointer { vow_resolve($0, promise.cValue) }
    }

    /// Has `action` called once if the promise is cancelled, or loses its last reader, before it is decided: its work can
    /// be stopped. `action` is called on the thread that cancels or releases, or at once if it is too late already. The
    /// returned registration removes it.
    @discardableResult
    public func onCancel(_ action: @escaping @Sendable () -> Void) -> CancellationRegistration {
        withPointer { resolver in
            CancellationRegistration(action) { vow_resolver_register(resolver, $0, $1, $2, $3) }
        }
    }
}

extension PromiseResolver where Success == Void {
    @discardableResult
    @inlinable
    public func fulfill() -> Bool { fulfill(()) }
}

extension Promise {
    /// The resolver of a promise of this type.
    public typealias Resolver = PromiseResolver<Success, Failure>
}
