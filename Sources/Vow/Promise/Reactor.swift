// From a Swift closure to a reaction of the core, in the memory of its link.

import CVow
import VowCore

/// What a link runs. At most two words, which are moved about: a closure, or two when they share a third one.
protocol Reactor {
    /// - Parameter input: borrowed.
    /// - Returns: what resolves the new promise; owned.
    func react(to input: vow_value) -> vow_value
}

private typealias ReactorType = any Reactor.Type

/// The type comes first, the reactor behind it.
private let reactorOffset = MemoryLayout<ReactorType>.size

extension Reactor {
    fileprivate static func run(_ address: UnsafeMutableRawPointer, _ input: vow_value) -> vow_value
    {
        address.assumingMemoryBound(to: Self.self).pointee.react(to: input)
    }

    fileprivate static func destroy(_ address: UnsafeMutableRawPointer) {
        address.assumingMemoryBound(to: Self.self).deinitialize(count: 1)
    }

    /// Hands itself over as a closure of the core.
    @inline(__always)
    fileprivate func carried<Result>(_ body: (CarriedClosure) -> Result) -> Result {
        precondition(
            MemoryLayout<Self>.size <= CarriedClosure.size - reactorOffset,
            "a reactor is larger than what a link carries")
        return withUnsafeTemporaryAllocation(byteCount: CarriedClosure.size, alignment: 16) {
            guard let memory = $0.baseAddress else { fatalError("no stack for a closure") }
            memory.storeBytes(of: Self.self, as: ReactorType.self)
            (memory + reactorOffset).initializeMemory(as: Self.self, to: self)
            return body(CarriedClosure(memory, run: runReactor, destroy: destroyReactor))
        }
    }
}

private func runReactor(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    guard let context else { fatalError("a link has lost its closure") }
    return context.load(as: ReactorType.self).run(context + reactorOffset, input)
}

private func destroyReactor(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    context.load(as: ReactorType.self).destroy(context + reactorOffset)
}

extension Promise {
    /// Registers a reaction.
    func react<NewSuccess, NewFailure>(
        _ kind: ReactionKind, on executor: PromiseExecutor?, _ token: CancellationToken?,
        _ reactor: some Reactor
    ) -> Promise<NewSuccess, NewFailure> {
        let derived = reactor.carried { closure in
            PromiseExecutor.withPointer(executor) { executor in
                CancellationToken.withPointer(token) { token in
                    reactWith(
                        closure, to: retainedPointer(), kind, on: executor, token: token,
                        in: PromiseHandle.house)
                }
            }
        }
        return Promise<NewSuccess, NewFailure>(made: derived)
    }

    /// Runs a reactor on an executor; it reads nothing.
    static func work(on executor: PromiseExecutor?, _ reactor: some Reactor) -> Promise {
        let work = reactor.carried { closure in
            PromiseExecutor.withPointer(executor) {
                workWith(closure, on: $0, in: PromiseHandle.house)
            }
        }
        return Promise(made: work)
    }
}
