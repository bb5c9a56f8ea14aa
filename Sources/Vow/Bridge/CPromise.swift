// Toll-free: a Swift promise is a C promise, and the other way round.

import CVow

extension Promise {
    /// Calls `body` with the promise's C promise: borrowed, so code that keeps it retains it.
    ///
    /// ``CRepresentable`` lists the values that C reads. A failure is a `VOW_ERROR` with the domain and code of the
    /// Swift error; an error that C made is passed as it is.
    public func withCPromise<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(withPointer { $0 })
        }
    }

    /// The C promise that this is, with one reference for the caller: for C functions that consume a promise.
    public func makeCPromise() -> OpaquePointer { retainedPointer() }

    /// Takes over a reference to a C promise (consumed), whose values are of this type.
    ///
    /// A value of another kind rejects the promises of its handlers with
    /// ``PromiseError/unexpectedValue(expected:found:)``. Swift's own errors are found again as they were; errors of
    /// the library are ``PromiseError`` or `CancellationError`; other errors are ``CError``.
    public init(taking promise: OpaquePointer, as _: Success.Type = Success.self) {
        self.init(owned: promise)
    }

    /// The same for a promise whose reference the caller keeps (borrowed).
    public init(borrowing promise: OpaquePointer, as _: Success.Type = Success.self) {
        vow_promise_retain(promise)
        self.init(owned: promise)
    }
}

extension PromiseResolver {
    /// Takes over a reference to a C resolver (consumed) whose promise is to get values of this type.
    public init(taking resolver: OpaquePointer, as _: Success.Type = Success.self) {
        self.init(owned: resolver)
    }

    /// The C resolver that this is, with one reference for the caller.
    public func makeCResolver() -> OpaquePointer {
        withPointer { resolver in
            vow_resolver_retain(resolver)
            return resolver
        }
    }
}

extension PromiseExecutor {
    /// Takes over a reference to a C executor (consumed).
    public init(taking executor: OpaquePointer) {
        self.init(borrowed: executor)
        vow_executor_release(executor)
    }

    /// Calls `body` with the C executor that this is: borrowed.
    public func withCExecutor<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PromiseExecutor.withPointer(self) { $0.unsafelyUnwrapped })
        }
    }
}

extension CancellationToken {
    /// Calls `body` with the C token that this is: borrowed.
    public func withCToken<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(CancellationToken.withPointer(self) { $0.unsafelyUnwrapped })
        }
    }
}
