// Events of the platform, bound to a handler or an action.

public import Dispatch

/// Something that happens again and again: a timer, a signal, a descriptor with something to read.
///
/// One handler is bound at a time; binding another one replaces it and lets go of it. Handlers are called one after the
/// other. Events that come faster than they can be handled, or while nothing is bound, are merged or missed.
///
/// ```swift
/// let ticks = EventSource.timer(every: .seconds(60))
/// ticks.bind(refresh.bind { print($0) })   // `refresh` is an `Action<Void, String>`.
/// ```
///
/// It lives as long as its owner keeps it; ``cancel()``, or the last reference to it going away, ends it.
public final class EventSource: Sendable {
    public typealias Handler = @Sendable (()) -> Void

    // Unsafe by its type only: a dispatch source may be used from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceProtocol
    private let binding: Binding
    private let ended: Promise<Void, Never>

    /// The part of the source that its own handler captures. A captured `EventSource` would keep itself.
    private final class Binding: Sendable {
        private let handler = Guarded<Handler?>(nil)

        /// - Returns: the former one, to be let go of outside the lock.
        func replace(with new: Handler?) -> Handler? {
            handler.withLock { current in
                defer { current = new }
                return current
            }
        }

        func fire() { handler.withLock { $0 }?(()) }
    }

    private init(_ source: any DispatchSourceProtocol) {
        let binding = Binding()
        let (ended, resolver) = Promise<Void, Never>.open()
        source.setEventHandler { binding.fire() }
        source.setCancelHandler { resolver.fulfill() }
        source.activate()
        (self.source, self.binding, self.ended) = (source, binding, ended)
    }

    deinit { source.cancel() }

    /// Has `handler` called at every event from now on, in place of the former one.
    public func bind(_ handler: @escaping Handler) { _ = binding.replace(with: handler) }

    /// Ends it, and lets go of the handler. One that is being called ends first.
    ///
    /// - Returns: a promise that is fulfilled once no handler runs any more and the system has let go as well: a descriptor
    ///   can be closed then.
    @discardableResult
    public func cancel() -> Promise<Void, Never> {
        _ = binding.replace(with: nil)
        source.cancel()
        return ended
    }
}

extension EventSource {
    /// Happens after `interval`, and again each time it has passed.
    ///
    /// - Parameter queue: where the handler is called.
    public static func timer(
        every interval: Duration, on queue: DispatchQueue = .global()
    ) -> EventSource {
        let source = DispatchSource.makeTimerSource(queue: queue)
        let nanoseconds = max(1, Int(clamping: interval.wholeNanoseconds))
        source.schedule(
            deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds))
        return EventSource(source)
    }

    /// An event each time the process gets this signal.
    ///
    /// The program prevents the signal's own effect: on Linux by blocking the signal in all threads (`pthread_sigmask`)
    /// before they start, elsewhere by ignoring it (`signal(number, SIG_IGN)`).
    public static func signal(_ number: Int32, on queue: DispatchQueue = .global()) -> EventSource {
        EventSource(DispatchSource.makeSignalSource(signal: number, queue: queue))
    }

    /// Happens while there is something to read, or the other end is closed. Keep the descriptor open until the promise of
    /// ``cancel()`` is fulfilled.
    public static func readable(
        _ fileDescriptor: Int32, on queue: DispatchQueue = .global()
    ) -> EventSource {
        EventSource(DispatchSource.makeReadSource(fileDescriptor: fileDescriptor, queue: queue))
    }
}
