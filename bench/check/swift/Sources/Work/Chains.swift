// What the workloads do with promises: written as a user would, isolated to nothing.

import Vow

public typealias IntPromise = Promise<Int, any Error>
public typealias IntResolver = PromiseResolver<Int, any Error>

struct Refused: Error {}

public func createAndFulfil(_ value: Int) -> Bool {
    let (promise, resolver) = IntPromise.pending()
    let isFirst = resolver.fulfill(value)
    withExtendedLifetime(promise) {}
    return isFirst
}

public func chain(
    _ links: Int, capturing step: Int, on executor: PromiseExecutor = .inline
) -> Int {
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map(on: executor) { $0 + step } }
    resolver.fulfill(0)
    return valueOf(last)
}

/// The same, awaited by this thread.
public func chain(
    _ links: Int, capturing step: Int, waitingOn executor: PromiseExecutor
) -> Int {
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map(on: executor) { $0 + step } }
    resolver.fulfill(0)
    return (try? last.wait()) ?? -1
}

/// Chains of ten that are written as one expression, on a pending promise each; capturing.
public func writtenChains(_ links: Int, capturing step: Int) -> Int {
    let inline = PromiseExecutor.inline
    var sum = 0
    for _ in 0..<(links / 10) {
        let (first, resolver) = IntPromise.pending()
        let five: IntPromise = first.map(on: inline) { $0 + step }.map(on: inline) { $0 + step }
            .map(on: inline) { $0 + step }.map(on: inline) { $0 + step }
            .map(on: inline) { $0 + step }
        let last: IntPromise = five.map(on: inline) { $0 + step }.map(on: inline) { $0 + step }
            .map(on: inline) { $0 + step }.map(on: inline) { $0 + step }
            .map(on: inline) { $0 + step }
        resolver.fulfill(0)
        sum += valueOf(last)
    }
    return sum
}

public func plainChain(_ links: Int) -> Int {
    let inline = PromiseExecutor.inline
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map(on: inline) { $0 + 1 } }
    resolver.fulfill(0)
    return valueOf(last)
}

public func chainHere(_ links: Int) -> Int {
    PromiseExecutor.setStandard(.inline)
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map { $0 + 1 } }
    resolver.fulfill(0)
    return valueOf(last)
}

public func chainHere(_ links: Int, capturing step: Int) -> Int {
    PromiseExecutor.setStandard(.inline)
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map { $0 + step } }
    resolver.fulfill(0)
    return valueOf(last)
}

public func flatChain(_ links: Int) -> Int {
    let inline = PromiseExecutor.inline
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.then(on: inline) { .value($0 + 1) } }
    resolver.fulfill(0)
    return valueOf(last)
}

public func links(_ links: Int, of settled: IntPromise) -> Int {
    let inline = PromiseExecutor.inline
    var sum = 0
    for _ in 0..<links { sum += valueOf(settled.map(on: inline) { $0 }) }
    return sum
}

public func observers(_ count: Int) -> Int {
    let inline = PromiseExecutor.inline
    let ran = Count()
    let (promise, resolver) = IntPromise.pending()
    for _ in 0..<count { promise.onSuccess(on: inline) { ran.add($0) } }
    resolver.fulfill(1)
    return ran.value
}

public func all(_ count: Int) -> Int {
    var promises: [IntPromise] = []
    var resolvers: [IntResolver] = []
    promises.reserveCapacity(count)
    resolvers.reserveCapacity(count)
    for _ in 0..<count {
        let (promise, resolver) = IntPromise.pending()
        promises.append(promise)
        resolvers.append(resolver)
    }
    let together = Promise<[Int], any Error>.all(promises)
    for (value, resolver) in resolvers.enumerated() { resolver.fulfill(value) }
    return valueOf(together).reduce(0, +)
}

public func rejections(_ count: Int, of settled: IntPromise) -> Int {
    let inline = PromiseExecutor.inline
    let ran = Count()
    for _ in 0..<count {
        let rejected: IntPromise = settled.map(on: inline) { _ in throw Refused() }
        rejected.catch(on: inline) { _ in ran.add(1) }
    }
    return ran.value
}

public func passing(_ links: Int) -> Bool {
    let inline = PromiseExecutor.inline
    let (first, resolver) = IntPromise.pending()
    var last = first
    for _ in 0..<links { last = last.map(on: inline) { $0 + 1 } }
    resolver.reject(Refused())
    return last.error is Refused
}

public func textChain(_ links: Int, _ text: String) -> Bool {
    let inline = PromiseExecutor.inline
    let (first, resolver) = Promise<String, any Error>.pending()
    var last = first
    for _ in 0..<links { last = last.map(on: inline) { $0 } }
    resolver.fulfill(text)
    return valueOf(last) == text
}

public func valueOf<Value>(_ promise: Promise<Value, any Error>) -> Value {
    guard case .success(let value) = promise.result else { fatalError("it is not fulfilled") }
    return value
}

/// On one thread.
final class Count: @unchecked Sendable {
    private(set) var value = 0

    func add(_ more: Int) { value &+= more }
}
