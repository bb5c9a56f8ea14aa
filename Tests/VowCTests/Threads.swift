// Threads and signals between them.

import XCTest

/// Where one thread waits for another one's signal.
final class Signal: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func send() { semaphore.signal() }

    func receive(file: StaticString = #filePath, line: UInt = #line) {
        let result = semaphore.wait(timeout: .now() + 60)
        XCTAssertEqual(result, .success, "no signal within a minute", file: file, line: line)
    }
}

private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

/// A thread of its own that runs a body; `join` waits for its end.
struct Worker {
    private let id: pthread_t

    init(stack: Int? = nil, _ body: @escaping () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        if let stack { XCTAssertEqual(pthread_attr_setstacksize(&attributes, stack), 0) }
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
