// W1 to W5 and W7: handlers run inline, on one thread.

import Harness
import OpenCombine

typealias IntFuture = Future<Int, Never>

private let ran = Counter()

/// A pending future and the right to fulfil it.
func pending() -> (future: IntFuture, fulfill: IntFuture.Promise) {
    var fulfill: IntFuture.Promise?
    let future = IntFuture { fulfill = $0 }
    return (future, fulfill!)
}

func createResolveRelease(_ n: Int) {
    for _ in 0..<n {
        let (future, fulfill) = pending()
        fulfill(.success(1))
        withExtendedLifetime(future) {}
    }
}

/// A link is an operator. Their types would nest, so a chain of any length erases them.
func chain(_ n: Int) {
    let (future, fulfill) = pending()
    var last = future.eraseToAnyPublisher()
    for _ in 0..<n { last = last.map { $0 + 1 }.eraseToAnyPublisher() }
    let result = Counter()
    let sink = last.sink { value in
        expect(value == n, "W2")
        result.add()
    }
    fulfill(.success(0))
    expect(result.take() == 1, "W2: result")
    withExtendedLifetime(sink) {}
}

func thenOnSettled(_ n: Int) {
    let settled = IntFuture { $0(.success(1)) }
    for _ in 0..<n { _ = settled.sink { _ in ran.add() } }
    expect(ran.take() == n, "W3")
}

func manyHandlers(_ n: Int) {
    let (future, fulfill) = pending()
    var sinks: [AnyCancellable] = []
    sinks.reserveCapacity(n)
    for _ in 0..<n { sinks.append(future.sink { _ in ran.add() }) }
    fulfill(.success(1))
    expect(ran.take() == n, "W4")
}

/// There is no `all`; merged and collected, the values come in the order of their settling.
func all(_ n: Int) {
    let pairs = (0..<n).map { _ in pending() }
    let result = Counter()
    let sink = pairs.map(\.future).publisher.flatMap { $0 }.collect().sink { values in
        expect(values.reduce(0, +) == n * (n - 1) / 2, "W5")
        result.add()
    }
    for (value, pair) in pairs.enumerated() { pair.fulfill(.success(value)) }
    expect(result.take() == 1, "W5: result")
    withExtendedLifetime(sink) {}
}

func recursion(_ n: Int) {
    let result = Counter()
    let sink = countDown(n).sink { value in
        expect(value == 0, "W7")
        result.add()
    }
    expect(result.take() == 1 && ran.take() == n + 1, "W7: levels")
    withExtendedLifetime(sink) {}
}

private func countDown(_ left: Int) -> AnyPublisher<Int, Never> {
    Just(left).flatMap { left -> AnyPublisher<Int, Never> in
        ran.add()
        return left == 0 ? Just(0).eraseToAnyPublisher() : countDown(left - 1)
    }.eraseToAnyPublisher()
}
