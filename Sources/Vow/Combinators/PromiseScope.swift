// A place for work that must not be left behind.

import CVow
import VowCore

/// Work that belongs together: closing the scope gives a promise of the end of all of it.
///
/// Members may add members until the scope has ended. The last reference to an open scope cancels its members.
///
/// A promise that is made under a scope takes over its deadline: the promises that the closures of `start` and of
/// `withPromiseScope` make, the promises that handlers attached there make, and so on.
public final class PromiseScope: Sendable {
    /// A `vow_scope`, as a number because a pointer is not Sendable.
    private let address: UInt
    /// The resolver of the member for the body of the asynchronous `withPromiseScope`, until the body has returned or
    /// closes the scope. A body that waits for the end would else wait for itself.
    fileprivate let running = Guarded<PromiseResolver<Void, any Error>?>(nil)

    /// - Parameters:
    ///   - deadline: the longest time of the scope; then its members are cancelled, and its end fails with
    ///     ``PromiseError/timedOut``. Promises made under it end then, too. Nil: the deadline of the scope around it.
    ///   - failsFast: the first failure of a member cancels the others; so does a cancellation from outside the scope.
    ///   - grace: a member that has not settled so long after the scope was cancelled is reported like an unhandled
    ///     rejection; the scope waits for it all the same. Nil: no report.
    ///   - label: names the scope in reports.
    ///
    /// A negative time makes a scope that takes no members, and whose end fails.
    public init(
        deadline: Duration? = nil, failsFast: Bool = false, grace: Duration? = nil,
        label: StaticString? = nil
    ) {
        var options = vow_scope_options()
        options.size = MemoryLayout<vow_scope_options>.size
        options.flags = failsFast ? VOW_SCOPE_FAIL_FAST : 0
        options.deadline_ns = deadline.map(Self.limit) ?? 0
        options.grace_ns = grace.map(Self.limit) ?? 0
        if let label, label.hasPointerRepresentation {
            label.utf8Start.withMemoryRebound(to: CChar.self, capacity: label.utf8CodeUnitCount) {
                options.label = $0
            }
        }
        guard let scope = vow_scope_create_with(&options) else {
            fatalError("out of memory for a scope")
        }
        address = UInt(bitPattern: scope)
    }

    /// No time is not no limit.
    private static func limit(_ duration: Duration) -> Int64 {
        duration == .zero ? 1 : duration.wholeNanoseconds
    }

    deinit { vow_scope_release(scope) }

    private var scope: OpaquePointer { OpaquePointer(bitPattern: address)! }

    /// Makes a promise a member. It may come after ``close()``, as long as there are others.
    ///
    /// - Returns: false: the scope has ended, and the promise is left alone; or the scope was cancelled, and so is the
    ///   promise.
    @discardableResult
    public func add<Success>(_ promise: Promise<Success, any Error>) -> Bool { addAny(promise) }

    /// The same with a promise whose failure type has a case for a cancellation.
    @discardableResult
    public func add<Success, Failure: PromiseFailure>(_ promise: Promise<Success, Failure>) -> Bool
    {
        addAny(promise)
    }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "cancelled, its failure could not say so: add `eraseFailure()` of it"
    )
    @discardableResult
    public func add<Success, Failure>(_ promise: Promise<Success, Failure>) -> Bool {
        addAny(promise)
    }

    private func addAny<Success, Failure>(_ promise: Promise<Success, Failure>) -> Bool {
        addInTime(promise.retainedPointer(), to: scope)
    }

    /// Runs `body` as a member; the promises that it makes are under the scope.
    ///
    /// - Parameter executor: runs `body`; nil: the executor of a handler attached here.
    /// - Returns: the promise of its result. It is rejected without a run if the scope was cancelled or has ended.
    @_disfavoredOverload  // A promise would become a promise of a promise.
    @discardableResult
    public func start<Success>(
        on executor: PromiseExecutor? = nil, _ body: @escaping @Sendable () throws -> Success
    ) -> Promise<Success, any Error> {
        start(executor, ScopeWork { outcome { () throws in try body() } })
    }

    /// The same with a promise made by `body`: the member settles as it does.
    @discardableResult
    public func start<Success, Other: Error>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable () throws -> Promise<Success, Other>
    ) -> Promise<Success, any Error> {
        start(
            executor,
            ScopeWork { outcome(followedBy: (any Error).self) { () throws in try body() } })
    }

    private func start<Success>(
        _ executor: PromiseExecutor?, _ work: ScopeWork
    ) -> Promise<Success, any Error> {
        PromiseExecutor.withPointer(executor) {
            Promise(
                owned: vow_scope_async(
                    scope, $0, ScopeWork.run, Unmanaged.passRetained(work).toOpaque(),
                    ScopeWork.release))
        }
    }

    /// Cancels the members, and later ones too. Without effect once the scope has ended.
    public func cancel() { vow_scope_cancel(scope) }

    /// Ends the scope, once all members have settled.
    ///
    /// - Returns: a promise that settles when all members have, those included that are added meanwhile: fulfilled, or
    ///   rejected with the first failure, also a cancellation that the scope has not asked for. Cancelling it cancels them.
    ///   Every call gives the same one.
    @discardableResult
    public func close() -> Promise<Void, any Error> {
        bodyReturned()
        return Promise(owned: vow_scope_close(vow_scope_retain(scope)!))
    }

    fileprivate func bodyReturned() {
        let returned = running.withLock { resolver in
            defer { resolver = nil }
            return resolver
        }
        returned?.fulfill()
    }

    /// Runs `body` with a scope, and waits for its result and for all that it has put into the scope.
    ///
    /// If `body` fails, the members are cancelled, and its failure is that of the whole; else a member's is. Cancelling
    /// the whole cancels them all.
    public static func with<Success>(
        _ body: (PromiseScope) throws -> Promise<Success, any Error>
    ) -> Promise<Success, any Error> {
        withPromiseScope(body)
    }

    /// The promise of `body` is a member like others.
    fileprivate func outwaiting<Success>(
        _ body: (PromiseScope) throws -> Promise<Success, any Error>
    ) -> Promise<Success, any Error> {
        let result = Promise.attempt { try makingUnder(scope) { () throws in try body(self) } }
        add(result)
        return result.transform(on: .inline) { result in
            if case .failure = result { self.cancel() }
            return self.close().transform(on: .inline) { end in
                try self.decide(result, end)
            }
        }
    }

    /// A cancellation of the body is an effect of the scope's end, which decides.
    fileprivate func decide<Success>(
        _ result: Result<Success, any Error>, _ end: Result<Void, any Error>
    ) throws -> Success {
        if case .failure(let own) = result, !(own is CancellationError) { throw own }
        try end.get()
        return try result.get()
    }
}

/// Runs `body` with a scope, and waits for its result and for all that it has put into the scope.
///
/// ```swift
/// let page = withPromiseScope(deadline: .seconds(5), failsFast: true) { scope in
///     let user = scope.start { fetchUser() }
///     let posts = scope.start { fetchPosts() }
///     return Promise.all(user, posts)
/// }
/// ```
///
/// Promises that `body` makes are under the scope. If `body` fails, the members are cancelled, and its failure is that of
/// the whole; else a member's failure is, or ``PromiseError/timedOut``. Cancelling the whole cancels them all. For the
/// parameters, see ``PromiseScope/init(deadline:failsFast:grace:label:)``.
public func withPromiseScope<Success>(
    deadline: Duration? = nil, failsFast: Bool = false, grace: Duration? = nil,
    label: StaticString? = nil, _ body: (PromiseScope) throws -> Promise<Success, any Error>
) -> Promise<Success, any Error> {
    PromiseScope(deadline: deadline, failsFast: failsFast, grace: grace, label: label)
        .outwaiting(body)
}

/// The same in a task: returns when `body` has, and all that it has put into the scope has settled.
///
/// `body` runs in a task of its own, isolated as the caller is. That task is cancelled with the scope: by the deadline, by
/// the first failure of a member with `failsFast`, by ``PromiseScope/cancel()``, and by a cancellation of the calling task.
/// A task changes threads, so only work given to `PromiseScope.start` is made under the scope.
@_disfavoredOverload  // Where `body` does not wait.
nonisolated(nonsending) public func withPromiseScope<Success: Sendable>(
    deadline: Duration? = nil, failsFast: Bool = false, grace: Duration? = nil,
    label: StaticString? = nil,
    @_inheritActorContext _ body:
        sending @escaping @isolated(any) (PromiseScope) async throws -> Success
) async throws -> Success {
    let scope = PromiseScope(deadline: deadline, failsFast: failsFast, grace: grace, label: label)
    // A member that settles when the body has returned, and by which the body hears that the scope is cancelled.
    let (running, returned) = Promise<Void, any Error>.pendingCooperative()
    scope.running.withLock { $0 = returned }
    let isAdded = scope.add(running)
    let task = Task { try await body(scope) }
    returned.onCancel { task.cancel() }
    if !isAdded { task.cancel() }  // A deadline that makes no sense.
    return try await withTaskCancellationHandler {
        let result = await task.result
        scope.bodyReturned()
        if case .failure = result { scope.cancel() }
        let end: Result<Void, any Error>
        do { end = .success(try await scope.close().cancellingValue) } catch {
            end = .failure(error)
        }
        return try scope.decide(result, end)
    } onCancel: {
        scope.cancel()
    }
}

/// A closure as a member's function and its context.
private final class ScopeWork: Sendable {
    /// The result is owned.
    private let body: @Sendable () -> vow_value

    init(_ body: @escaping @Sendable () -> vow_value) { self.body = body }

    static let run: @convention(c) @Sendable (vow_value, UnsafeMutableRawPointer?) -> vow_value = {
        _, context in
        guard let context else { fatalError("a member has lost its closure") }
        return Unmanaged<ScopeWork>.fromOpaque(context).takeUnretainedValue().body()
    }

    static let release: @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<ScopeWork>.fromOpaque(context).release()
    }
}
