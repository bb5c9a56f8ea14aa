// W6: every handler hops to a serial queue of libdispatch's.

import Dispatch
import Harness
import OpenCombine
import OpenCombineDispatch

private let serial = DispatchQueue(label: "bench")
private let ran = Counter()

/// W6a
func serialChain(_ n: Int) {
    let serial = serial.ocombine
    let (future, fulfill) = pending()
    var last = future.eraseToAnyPublisher()
    for _ in 0..<n { last = last.receive(on: serial).map { $0 + 1 }.eraseToAnyPublisher() }
    let done = DispatchSemaphore(value: 0)
    let sink = last.sink { value in
        expect(value == n, "W6")
        done.signal()
    }
    fulfill(.success(0))
    done.wait()
    withExtendedLifetime(sink) {}
}

/// W6c. Sinks are called in no order, so each one looks whether it is the last.
func serialHandlers(_ n: Int) {
    let (future, fulfill) = pending()
    let serial = serial.ocombine
    let done = DispatchSemaphore(value: 0)
    var sinks: [AnyCancellable] = []
    sinks.reserveCapacity(n)
    for _ in 0..<n {
        sinks.append(
            future.receive(on: serial).sink { _ in
                ran.add()
                if ran.count == n { done.signal() }
            })
    }
    fulfill(.success(1))
    done.wait()
    expect(ran.take() == n, "W6c")
}
