// Using a resource with asynchronous closures.

import CVow

extension Promise where Failure == any Error {
    /// `using` with asynchronous closures, each in a task that is isolated to where it was written. The task of `body` is
    /// cancelled with the whole, that of `release` never; both are waited for.
    @_disfavoredOverload  // Closures that return promises have their own.
    public func using<Result>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Result,
        @_inheritActorContext release:
            @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise<Result, any Error> {
        let used = AsyncStart(isolatedTo: body.isolation) { input in
            await reading(input) { (resource: Success) in
                await outcome { try await body(resource) }
            }
        }
        return use(used, release)
    }

    /// The same with a promise made by `body`: the release waits for it.
    public func using<Result, Other: Error>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Promise<Result, Other>,
        @_inheritActorContext release:
            @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise<Result, any Error> {
        let used = AsyncStart(isolatedTo: body.isolation) { input in
            await reading(input) { (resource: Success) in
                await outcome(followedBy: (any Error).self) { () async throws in
                    try await body(resource)
                }
            }
        }
        return use(used, release)
    }

    private func use<Result>(
        _ used: AsyncStart,
        _ release: @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise<Result, any Error> {
        let released = AsyncStart(isolatedTo: release.isolation, isCleanUp: true) { input in
            await reading(input) { (resource: Success) in
                await outcome { try await release(resource) }
            }
        }
        return use(.inline, whole: { used.run(with: $0) }, release: { released.run(with: $0) })
    }
}
