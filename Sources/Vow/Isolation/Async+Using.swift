// Using a resource with asynchronous closures.

import CVow

extension Promise where Failure == any Error {
    /// `using` with asynchronous closures, each in a task that is isolated to where it was written. The task of `body` is
    /// cancelled with the whole, that of `release` never; both are waited for.
    public func using<Result>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Result,
        @_inheritActorContext release:
            @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise<Result, any Error> {
        let used = AsyncStart(isolatedTo: body.isolation) { input in
            guard let resource = decode(input, as: Success.self) else {
                return encodeError(unexpected(input, Success.self))
            }
            do { return encode(try await body(resource)) } catch { return encodeError(error) }
        }
        let released = AsyncStart(isolatedTo: release.isolation, isCleanUp: true) { input in
            guard let resource = decode(input, as: Success.self) else {
                return encodeError(unexpected(input, Success.self))
            }
            do { try await release(resource) } catch { return encodeError(error) }
            return vow_none()
        }
        return use(.inline, whole: { used.run(with: $0) }, release: { released.run(with: $0) })
    }
}
