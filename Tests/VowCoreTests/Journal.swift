// What handlers write down, and threads to run them on.

import XCTest

@testable import VowCore

/// Entries in the order in which they were made, from any thread.
final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var written: [Int] = []
    private var writers: [pthread_t] = []

    func write(_ entry: Int) {
        lock.withLock {
            written.append(entry)
            writers.append(pthread_self())
        }
    }

    var entries: [Int] { lock.withLock { written } }
    var threads: Set<pthread_t> { lock.withLock { Set(writers) } }
}

/// A handler's context that is borrowed: the test keeps the object.
func pointer(to object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
}

extension UnsafeMutableRawPointer {
    func object<Object: AnyObject>(_: Object.Type) -> Object {
        Unmanaged<Object>.fromOpaque(self).takeUnretainedValue()
    }
}

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

/// A thread of its own that runs a body; `join` waits for its end. It has entered the core, as in every exported
/// function.
struct Worker {
    private let id: pthread_t

    init(stack: Int? = nil, enters: Bool = true, _ body: @escaping () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        if let stack { XCTAssertEqual(pthread_attr_setstacksize(&attributes, stack), 0) }
        var id = pthread_t()
        let made = pthread_create(
            &id, &attributes,
            { context in
                Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            },
            Unmanaged.passRetained(
                Body {
                    if enters { _ = currentThread() }
                    body()
                }
            ).toOpaque())
        pthread_attr_destroy(&attributes)
        XCTAssertEqual(made, 0, "no thread")
        self.id = id
    }

    func join() { XCTAssertEqual(pthread_join(id, nil), 0) }
}

/// Runs the body on so many threads at once, and waits for all.
func onThreads(_ count: Int, _ body: (Int) -> Void) {
    withoutActuallyEscaping(body) { body in
        let workers = (0..<count).map { index in Worker { body(index) } }
        for worker in workers { worker.join() }
    }
}
