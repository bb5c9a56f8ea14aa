// A pending task and the right to end it.

struct Pending: Sendable {
    let task: Task<Int, Never>
    let continuation: UnsafeContinuation<Int, Never>

    init() {
        let place = Place.shared
        task = .immediate { await withUnsafeContinuation { place.continuation = $0 } }
        // The task has begun already, on this thread.
        continuation = place.continuation!
    }
}

/// Only one thread makes pending tasks.
private final class Place: @unchecked Sendable {
    static let shared = Place()
    var continuation: UnsafeContinuation<Int, Never>?
}
