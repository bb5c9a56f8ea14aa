// PromiseKit's functions.

import Dispatch
import Vow

public func when<T>(fulfilled promises: some Sequence<Promise<T>>) -> Promise<[T]> {
    .all(promises)
}

public func when(fulfilled promises: Promise<Void>...) -> Promise<Void> {
    Promise<[Void]>.all(promises).asVoid()
}

public func when<First: Sendable, Second: Sendable, each Rest: Sendable>(
    fulfilled first: Promise<First>, _ second: Promise<Second>, _ rest: repeat Promise<each Rest>
) -> Promise<(First, Second, repeat each Rest)> {
    .all(first, second, repeat each rest)
}

/// Takes the next promise when there is room for it.
public func when<T, Work: IteratorProtocol<Promise<T>>>(
    fulfilled iterator: sending Work, concurrently: Int
) -> Promise<[T]> {
    .map(IteratorSequence(iterator), concurrency: concurrently) { $0 }
}

public func when<T>(
    resolved promises: some Sequence<Promise<T>>
) -> Guarantee<[Result<T, any Error>]> {
    .allSettled(promises)
}

public func when<T>(resolved promises: Promise<T>...) -> Guarantee<[Result<T, any Error>]> {
    .allSettled(promises)
}

public func race<T, Failure>(_ promises: Vow.Promise<T, Failure>...) -> Vow.Promise<T, Failure> {
    .race(promises)
}

public func race<T>(fulfilled promises: some Sequence<Promise<T>>) -> Promise<T> { .any(promises) }

public func after(seconds: Double) -> Guarantee<Void> { after(.seconds(seconds)) }

public func after(_ duration: Duration) -> Guarantee<Void> {
    Promise.delay(duration).recover { _ in }
}

public enum PMKNamespacer: Sendable { case promise }

extension DispatchQueue {
    public func async<T: Sendable>(
        _: PMKNamespacer, execute body: @escaping @Sendable () throws -> T
    ) -> Promise<T> {
        promise(body)
    }
}
