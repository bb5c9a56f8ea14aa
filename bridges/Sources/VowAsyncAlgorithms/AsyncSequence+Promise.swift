// Promises of what asynchronous sequences give.

import AsyncAlgorithms
public import Vow

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Iterates, in a task that is cancelled with the promise: all elements, when the sequence has ended.
    public func collected() -> Promise<[Element], any Error> {
        Promise { try await Array(self) }
    }

    /// Iterates, in a task that is cancelled with the promise, up to the first element; without one,
    /// ``Vow/PromiseError/noSuchElement``.
    public func firstElement() -> Promise<Element, any Error> {
        Promise {
            for try await element in self { return element }
            throw PromiseError.noSuchElement
        }
    }
}
