// A place for work that must not be left behind.

import CVow
import Synchronization

/// Work that belongs together: closing the scope is a promise of the end of all of it.
///
/// The last reference to a scope that was not closed cancels what is in it.
public final class PromiseScope: Sendable {
    private struct State: ~Copyable {
        /// Calls under way that use the scope of the core.
        var users = 0
        var isClosed = false
        /// Of the end; whoever takes it gives the core's scope away.
        var resolver: Resolver<Void, any Error>?
    }

    /// A `vow_scope`, as a number because a pointer is not Sendable.
    private let address: UInt
    private let end: Promise<Void, any Error>
    private let state: Mutex<State>

    public init() {
        guard let scope = vow_scope_create() else { fatalError("out of memory for a scope") }
        address = UInt(bitPattern: scope)
        let (end, resolver) = Promise<Void, any Error>.pending()
        self.end = end
        state = Mutex(State(resolver: resolver))
    }

    deinit {
        guard let resolver = state.withLock({ $0.resolver.take() }) else { return }
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
    /// - Returns: a promise that settles when all members have: fulfilled, or rejected with the first failure that is no
    ///   cancellation. Cancelling it cancels them. Every call gives the same one.
    @discardableResult
    public func close() -> Promise<Void, any Error> {
        let isFirst = state.withLock { state in
            if state.isClosed { return false }
            state.isClosed = true
            state.users += 1
            return true
        }
        if isFirst { leave() }
        return end
    }

    /// Runs `body` with a scope, and waits for its result and for all that it has put into the scope.
    ///
    /// If `body` fails, the members are cancelled. A member's failure is the failure of the whole, unless `body` failed.
    public static func with<Success>(
        _ body: (PromiseScope) throws -> Promise<Success, any Error>
    ) -> Promise<Success, any Error> {
        let scope = PromiseScope()
        return Promise.attempt { try body(scope) }
            .onFailure(on: .inline) { _ in scope.cancel() }
            .finally(on: .inline) { () -> Promise<Void, any Error> in scope.close() }
    }

    /// Calls `body` while nobody can end the scope; nil: it is closed. No lock is held meanwhile, for `body` may run
    /// handlers that use the scope.
    private func using<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        let isOpen = state.withLock { state in
            if state.isClosed { return false }
            state.users += 1
            return true
        }
        if !isOpen { return nil }
        defer { leave() }
        return body(scope)
    }

    /// The last to leave a closed scope ends it.
    private func leave() {
        let resolver = state.withLock { state in
            state.users -= 1
            return state.users == 0 && state.isClosed ? state.resolver.take() : nil
        }
        resolver?.follow(Promise(owned: vow_scope_close(scope)))
    }
}
