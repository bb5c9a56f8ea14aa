// Promises of tasks.

extension Promise {
    /// Runs `operation` in a new task; the promise of its result.
    ///
    /// ```swift
    /// let image = Promise { try await download(url) }
    /// ```
    ///
    /// The task begins as one of `Task { … }` does: isolated to the actor that it is made on, with its priority
    /// and task locals. Cancelling the promise cancels the task, and so does the loss of its last reader; the
    /// promise does not wait for the task to notice.
    ///
    /// - Parameters:
    ///   - name: of the task, for debuggers.
    ///   - priority: of the task; nil: that of the task which makes it.
    @_disfavoredOverload  // A promise would become a promise of a promise.
    public init(
        name: String? = nil, priority: TaskPriority? = nil,
        @_inheritActorContext operation:
            sending @escaping @isolated(any) () async throws(Failure) -> Success
    ) {
        self.init(name, priority) { resolver async throws(Failure) in
            resolver.fulfill(try await operation())
        }
    }

    fileprivate init(
        _ name: String?, _ priority: TaskPriority?,
        settling body:
            sending @escaping (PromiseResolver<Success, Failure>) async throws(Failure) -> Void
    ) {
        let (promise, resolver) = Self.open()
        self = promise
        let task = Task(name: name, priority: priority) {
            do throws(Failure) { try await body(resolver) } catch { resolver.reject(error) }
        }
        resolver.onCancel { task.cancel() }
    }

    /// The promise of a task's result.
    ///
    /// - Parameter cancelsTask: whether cancelling the promise, or letting its last reader go, cancels the task.
    ///   If not, the task goes on.
    public init(_ task: Task<Success, Failure>, cancelsTask: Bool = false) {
        let (promise, resolver) = Self.open()
        self = promise
        Task.detached { resolver.resolve(with: await task.result) }
        if cancelsTask { resolver.onCancel { task.cancel() } }
    }
}

extension Promise where Failure == any Error {
    /// The same with a promise of any failure, from an `operation` that may throw.
    public init<Other: Error>(
        name: String? = nil, priority: TaskPriority? = nil,
        @_inheritActorContext operation:
            sending @escaping @isolated(any) () async throws -> Promise<
                Success, Other
            >
    ) {
        self.init(name, priority) { resolver async throws in
            resolver.follow(try await operation().widened())
        }
    }
}
