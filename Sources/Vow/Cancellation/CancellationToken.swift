// One switch for many handlers.

import CVow

/// Cancels the handlers that have its ``token``.
///
/// Cancelling unregisters those handlers: success handlers never run, failure handlers and those of `finally` get a
/// `CancellationError`, and the promises that they read are left alone. The last source that is released cancels
/// nothing; a source that is linked to other tokens is still cancelled by them.
public struct CancellationSource: Sendable {
    private let handle: Handle

    public init() { self.init(linkedTo: []) }

    /// A source that is also cancelled when one of these tokens is, for its reason, while it or its token has a
    /// reference.
    public init(linkedTo tokens: [CancellationToken]) {
        let source = withExtendedLifetime(tokens) {
            vow_cancel_source_create_linked(tokens.map { $0.pointer }, tokens.count)
        }
        guard let source else { fatalError("out of memory for a cancellation source") }
        handle = Handle(source, release: vow_cancel_source_release)
    }

    /// True the first time; later calls have no effect.
    @discardableResult
    public func cancel() -> Bool {
        handle.withPointer { vow_cancel_source_cancel($0) }
    }

    /// The same with a reason, which C sees as the payload of the errors, and Swift as
    /// ``CancellationToken/reason(as:)``.
    @discardableResult
    public func cancel(reason: some Sendable) -> Bool {
        handle.withPointer { vow_cancel_source_cancel_with($0, encode(reason)) }
    }

    /// Cancels the source for the reason of a cancelled token.
    func cancel(forReasonOf token: CancellationToken) {
        CancellationToken.withPointer(token) { token in
            handle.withPointer { _ = vow_cancel_source_cancel_with($0, vow_token_reason(token)) }
        }
    }

    public var token: CancellationToken {
        handle.withPointer { CancellationToken(borrowed: vow_cancel_source_token($0)!) }
    }
}

/// Tells that work is no longer wanted, to any number of handlers and functions.
public struct CancellationToken: Sendable {
    private let handle: Handle

    fileprivate init(borrowed token: OpaquePointer) {
        vow_token_retain(token)
        handle = Handle(token, release: vow_token_release)
    }

    fileprivate var pointer: OpaquePointer { handle.pointer }

    @inline(__always)
    static func withPointer<Result>(
        _ token: CancellationToken?, _ body: (OpaquePointer?) -> Result
    ) -> Result {
        token?.handle.withPointer(body) ?? body(nil)
    }

    /// One that is never cancelled.
    public static let never = CancellationSource().token

    public var isCancelled: Bool {
        handle.withPointer { vow_token_is_cancelled($0) }
    }

    /// Throws a `CancellationError` once it is cancelled.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// The reason it was cancelled with, if that was one of this type.
    public func reason<Reason: Sendable>(as _: Reason.Type = Reason.self) -> Reason? {
        let value = handle.withPointer { vow_token_reason($0) }
        defer { vow_value_release(value) }
        return value.kind == VOW_NONE ? nil : decode(value)
    }

    /// Has `action` called once when the token is cancelled, on the cancelling thread, or at once if it is cancelled
    /// already; unless the registration was removed before. `action` is released after its call, after its removal, or
    /// when no source can cancel any more.
    @discardableResult
    public func onCancel(_ action: @escaping @Sendable () -> Void) -> CancellationRegistration {
        handle.withPointer { token in
            CancellationRegistration(action) { vow_token_register(token, $0, $1, $2, $3) }
        }
    }
}
