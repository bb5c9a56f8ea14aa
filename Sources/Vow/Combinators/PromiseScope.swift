// A place for work that must not be left behind.

import CVow
import Synchronization

/// Work that belongs together: closing the scope is a promise of the end of all of it.
///
/// The last reference to a scope that was not closed cancels what is in it.
public final class PromiseScope: Sendable {
    /// A `vow_scope`, as a number because a pointer is not Sendable.
    private let address: UInt
    private let end: Promise<Void, any Error>
    private let resolver: Resolver<Void, any Error>
    /// Twice the number of calls under way that use the scope of the core, plus one once it is closed.
    private let users = Atomic(0)
    private static let closed = 1
    private static let user = 2

    public init() {
        guard let scope = vow_scope_create() else { fatalError("out of memory for a scope") }
        address = UInt(bitPattern: scope)
        (end, resolver) = Promise<Void, any Error>.pending()
    }

    deinit {
        if users.load(ordering: .acquiring) == Self.closed { return }
        vow_scope_release(scope)
        resolver.fulfill()
    }

    private var scope: OpaquePointer { OpaquePointer(bitPattern: address)! }

    /// Makes a promise a member.
    ///
    /// - Returns: false: the scope was closed before, and the promise is left alone; or it was cancelled, and so is the
    ///   promise.
    @discardableResult
    public func add<Success, Failure>(_ promise: Promise<Success, Failure>) -> Bool {
        using { vow_scope_add($0, promise.retainedPointer()) == 0 } ?? false
    }

    /// Cancels the members, and those that are added later. Without effect once it is closed: cancel the promise of the
    /// end then.
    public func cancel() { _ = using { vow_scope_cancel($0) } }

    /// Ends the scope: nothing more can be added.
    ///
    /// - Returns: a promise that settles when all members have: fulfilled, or rejected with the first failure that is
    ///   no cancellation. Cancelling it cancels them. Every call gives the same one.
    @discardableResult
    public func close() -> Promise<Void, any Error> {
        if enter(adding: Self.closed) { leave() }
        return end
    }

    /// Runs `body` with a scope, and waits for its result and for all that it has put into the scope.
    ///
    /// If `body` fails, the members are cancelled, and its failure is that of the whole; else a member's is. Cancelling
    /// the whole cancels them all.
    public static func with<Success>(
        _ body: (PromiseScope) throws -> Promise<Success, any Error>
    ) -> Promise<Success, any Error> {
        let scope = PromiseScope()
        return Promise.attempt { try body(scope) }.transform(on: .inline) { result in
            guard case .failure = result else {
                return scope.close().map(on: .inline) { try result.get() }
            }
            scope.cancel()
            return scope.close().transform(on: .inline) { _ in try result.get() }
        }
    }

    /// Calls `body` while nobody can end the scope; nil: it is closed. No lock is held meanwhile, for `body` may run
    /// handlers that use the scope.
    private func using<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        if !enter(adding: 0) { return nil }
        defer { leave() }
        return body(scope)
    }

    /// False: it is closed.
    private func enter(adding mark: Int) -> Bool {
        var before = users.load(ordering: .relaxed)
        while before & Self.closed == 0 {
            let (exchanged, now) = users.weakCompareExchange(
                expected: before, desired: before + Self.user + mark,
                ordering: .acquiringAndReleasing)
            if exchanged { return true }
            before = now
        }
        return false
    }

    /// The last to leave a closed scope ends it.
    private func leave() {
        let now = users.subtract(Self.user, ordering: .acquiringAndReleasing).newValue
        if now == Self.closed { resolver.follow(Promise(owned: vow_scope_close(scope))) }
    }
}
