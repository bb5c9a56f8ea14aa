// The next notification as a promise.

public import Foundation
public import Vow

extension NotificationCenter {
    /// The promise of the result of `read` for the next notification of this name, and of this object unless that is
    /// nil. An error thrown by `read` rejects.
    ///
    /// A notification may not leave the thread that posts it, so `read` runs there and returns the wanted part. The
    /// observer is removed with the first notification, and when the promise is cancelled or loses its last reader.
    public func promise<Success: Sendable>(
        for name: Notification.Name, object: AnyObject? = nil,
        _ read: @escaping @Sendable (Notification) throws -> Success
    ) -> Promise<Success, any Error> {
        let (promise, resolver) = Promise<Success, any Error>.pending()
        let observation = Observation(center: self)
        let observer = addObserver(forName: name, object: object, queue: nil) { notification in
            guard observation.end() else { return }
            resolver.resolve(with: Result { try read(notification) })
        }
        observation.begin(observer)
        resolver.onCancel { _ = observation.end() }
        return promise
    }

    /// A promise that is fulfilled with the next notification of this name, and of this object unless that is nil.
    public func promise(
        for name: Notification.Name, object: AnyObject? = nil
    ) -> Promise<Void, any Error> {
        promise(for: name, object: object) { _ in }
    }
}

/// One observer, which is removed once; its end may come before the centre has given it.
private final class Observation: Sendable {
    private enum State {
        case beginning, ended
        case observing(Observer)
    }

    /// Unchecked: nothing is done with it but handing it back to the centre.
    private struct Observer: @unchecked Sendable { let observer: any NSObjectProtocol }

    private let center: NotificationCenter
    private let state = Guarded(State.beginning)

    init(center: NotificationCenter) { self.center = center }

    func begin(_ observer: any NSObjectProtocol) {
        let observer = Observer(observer: observer)
        let isOver = state.withLock { state in
            if case .ended = state { return true }
            state = .observing(observer)
            return false
        }
        if isOver { center.removeObserver(observer.observer) }
    }

    /// True for the first call.
    func end() -> Bool {
        let before = state.withLock { state in
            defer { state = .ended }
            return state
        }
        switch before {
        case .beginning: return true
        case .observing(let observer):
            center.removeObserver(observer.observer)
            return true
        case .ended: return false
        }
    }
}
