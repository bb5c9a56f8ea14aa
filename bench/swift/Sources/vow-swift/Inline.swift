// W1 to W5 and W7: handlers run inline, on one thread.

import Harness
import Vow

private let inline = PromiseExecutor.inline
private let ran = Counter()
private let settled = IntPromise.value(1)

func createResolveRelease(_ n: Int) {
    for _ in 0..<n {
        let (promise, resolver) = IntPromise.pending()
        expect(resolver.fulfill(1), "W1")
        withExtendedLifetime(promise) {}
    }
}

func chain(_ n: Int) {
    let inline = inline
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<n { last = last.map(on: inline) { $0 + 1 } }
    resolver.fulfill(0)
    expect(valueOf(last) == n, "W2")
}

func thenOnSettled(_ n: Int) {
    let inline = inline
    for _ in 0..<n {
        _ = settled.map(on: inline) { value in
            ran.add()
            return value + 1
        }
    }
    expect(ran.take() == n, "W3")
}

func manyHandlers(_ n: Int) {
    let inline = inline
    let (promise, resolver) = IntPromise.pending()
    for _ in 0..<n { promise.onSuccess(on: inline) { _ in ran.add() } }
    resolver.fulfill(1)
    expect(ran.take() == n, "W4")
}

func all(_ n: Int) {
    var promises: [IntPromise] = []
    var resolvers: [IntResolver] = []
    promises.reserveCapacity(n)
    resolvers.reserveCapacity(n)
    for _ in 0..<n {
        let (promise, resolver) = IntPromise.pending()
        promises.append(promise)
        resolvers.append(resolver)
    }
    let together = Promise<[Int], any Error>.all(promises)
    for (value, resolver) in resolvers.enumerated() { resolver.fulfill(value) }
    expect(valueOf(together).reduce(0, +) == n * (n - 1) / 2, "W5")
}

func recursion(_ n: Int) {
    expect(valueOf(countDown(n)) == 0, "W7")
    expect(ran.take() == n + 1, "W7: levels")
}

@Sendable
private func countDown(_ left: Int) -> IntPromise {
    IntPromise.value(left).then(on: inline) { left in
        ran.add()
        return left == 0 ? .value(0) : countDown(left - 1)
    }
}

/// Of a promise that is fulfilled.
func valueOf<Value>(_ promise: Promise<Value, any Error>) -> Value {
    guard case .success(let value) = promise.result else {
        fatalError("benchmark: a promise that should be fulfilled is not")
    }
    return value
}
