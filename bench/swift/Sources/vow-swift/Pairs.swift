// Promises that are made before they are measured, and their resolvers.

import Vow

/// Its two arrays are read by two threads at a time and changed by one.
final class Pairs: @unchecked Sendable {
    private(set) var promises: [IntPromise] = []
    private(set) var resolvers: [IntResolver] = []

    /// - Parameter link: what becomes the promise of the pair.
    func make(_ n: Int, _ link: (IntPromise) -> IntPromise = { $0 }) {
        promises.reserveCapacity(n)
        resolvers.reserveCapacity(n)
        for _ in 0..<n {
            let (promise, resolver) = IntPromise.pending()
            promises.append(link(promise))
            resolvers.append(resolver)
        }
    }

    /// The arrays keep their memory.
    func free() {
        promises.removeAll(keepingCapacity: true)
        resolvers.removeAll(keepingCapacity: true)
    }
}
