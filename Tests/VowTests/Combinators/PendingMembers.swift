// Promises for the tests of combinators, to be settled by hand.

import Vow

/// Pending promises and their resolvers.
struct PendingMembers<Success: Sendable> {
    let promises: [Promise<Success, any Error>]
    let resolvers: [PromiseResolver<Success, any Error>]

    init(_ count: Int, of _: Success.Type = Success.self) {
        let pairs = (0..<count).map { _ in Promise<Success, any Error>.pending() }
        promises = pairs.map(\.promise)
        resolvers = pairs.map(\.resolver)
    }

    /// Writes down the place of each that is cancelled, or that nobody wants any more.
    func noteCancelled(in journal: Journal<Int>) {
        for (index, resolver) in resolvers.enumerated() {
            resolver.onCancel { journal.write(index) }
        }
    }
}

extension Promise {
    /// The value that is there.
    var settledValue: Success? { try? result?.get() }
}
