// Waiting for a date.

import Dispatch
public import Foundation
public import Vow

extension Promise where Success == Void, Failure == any Error {
    /// A promise that is fulfilled at this date, or at once if it has passed.
    ///
    /// It goes by the clock on the wall: when that is set, the promise comes sooner or later. For a length of time,
    /// use a delay. The timer is removed when the promise is cancelled or loses its last reader.
    public static func at(_ date: Date) -> Promise {
        let (promise, resolver) = pending()
        let left = date.timeIntervalSinceNow
        if left <= 0 {
            resolver.fulfill()
            return promise
        }
        // Unsafe only to the compiler: libdispatch's sources may be cancelled from any thread.
        nonisolated(unsafe) let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler {
            resolver.fulfill()
            timer.cancel()
        }
        // Later than libdispatch can count is never.
        timer.schedule(wallDeadline: left < 1e9 ? .now() + left : .distantFuture)
        timer.activate()
        resolver.onCancel { timer.cancel() }
        return promise
    }
}
