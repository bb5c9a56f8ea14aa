// Threads of their own.

import XCTest

private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

/// A thread of its own that runs a body; `join` waits for its end.
struct Worker {
    private let id: pthread_t

    init(_ body: @escaping () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        var id = pthread_t()
        let made = pthread_create(
            &id, &attributes,
            { context in
                Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(Body(body)).toOpaque())
        pthread_attr_destroy(&attributes)
        XCTAssertEqual(made, 0, "no thread")
        self.id = id
    }

    func join() { XCTAssertEqual(pthread_join(id, nil), 0) }
}

/// A number that several threads change.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0

    func add(_ amount: Int = 1) { lock.withLock { number += amount } }

    var value: Int { lock.withLock { number } }
}
