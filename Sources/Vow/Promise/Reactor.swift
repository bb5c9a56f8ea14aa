// From a Swift closure to a reaction of the core, in the memory of its link.
//
// Code that depends on the closure's type is inlined into the program, where that type is known. The tables by which Swift
// calls the conformances of a type lead to code for every type, so a link carries a function of its own.

public import CVow
public import CVowPlatform
import VowCore

/// The closures that a link runs, in at most two words, which are moved about: a closure, or two that share a third.
@usableFromInline
protocol Reactor: SendableMetatype {
    /// - Parameter input: borrowed.
    /// - Returns: the value that resolves the new promise; owned.
    func react(to input: vow_value) -> vow_value
}

/// The core's flags: which outcomes a reaction handles, and how.
@usableFromInline
enum ReactionKind {
    case onFulfilled, onRejected, onBoth, finally
    /// On both, but a rejection is not handled by that.
    case onBothForValue

    fileprivate var core: VowCore.ReactionKind {
        switch self {
        case .onFulfilled: .onFulfilled
        case .onRejected: .onRejected
        case .onBoth: .onBoth
        case .finally: .finally
        case .onBothForValue: .onBothForValue
        }
    }
}

/// Runs the reactor at an address, which is moved from there, or, without an input, ends it. In a struct, because memory of
/// a bare function type has the function in its form for generic code.
@usableFromInline
struct ReactorFunction {
    @usableFromInline let call:
        @Sendable (
            _ reactor: UnsafeMutableRawPointer, _ input: UnsafePointer<vow_value>?
        ) -> vow_value

    @inlinable @inline(__always)
    init(
        _ call:
            @escaping @Sendable (UnsafeMutableRawPointer, UnsafePointer<vow_value>?) ->
            vow_value
    ) { self.call = call }
}

/// The contents of a link: the function comes first, the reactor behind it.
@usableFromInline
struct CarriedReactor<Body: Reactor> {
    @usableFromInline let function: ReactorFunction
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) {
        // Captures nothing, so that it is no object where the type is known.
        function = ReactorFunction { reactor, input in
            let body = reactor.assumingMemoryBound(to: Body.self).move()
            return input.map { body.react(to: $0.pointee) } ?? vow_none()
        }
        self.body = body
    }

    /// Moves the reactor into these bytes.
    @inlinable @inline(__always)
    consuming func move(to bytes: UnsafeMutableRawPointer) {
        bytes.initializeMemory(as: Self.self, to: self)
    }
}

/// Room for the contents of a link: as much as the core moves.
@usableFromInline
struct CarriedBytes {
    @usableFromInline var words: (UInt, UInt, UInt, UInt) = (0, 0, 0, 0)

    @inlinable @inline(__always)
    init(_ body: consuming some Reactor) {
        let carried = CarriedReactor(body)
        precondition(
            MemoryLayout.size(ofValue: carried) <= 32,
            "a reactor is larger than what a link carries")
        carried.move(to: &self)
    }
}

private let reactorOffset = MemoryLayout<ReactorFunction>.size

/// Once: the reactor is gone with its run.
private func runReactor(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    guard let context, let function = takeFunction(context) else {
        fatalError("a link has lost its closure")
    }
    return withUnsafePointer(to: input) { function.call(context + reactorOffset, $0) }
}

private func destroyReactor(_ context: UnsafeMutableRawPointer?) {
    guard let context, let function = takeFunction(context) else { return }
    _ = function.call(context + reactorOffset, nil)
}

private func takeFunction(_ context: UnsafeMutableRawPointer) -> ReactorFunction? {
    let place = context.assumingMemoryBound(to: ReactorFunction?.self)
    let function = place.move()
    place.initialize(to: nil)
    return function
}

extension PromiseHandle {
    /// Registers a reaction.
    ///
    /// - Parameter reactor: a `CarriedReactor`, moved from there.
    @usableFromInline
    static func react(
        to handle: consuming PromiseHandle, _ kind: ReactionKind, on executor: PromiseExecutor?,
        _ token: CancellationToken?,
        _ reactor: UnsafeMutableRawPointer
    ) -> PromiseHandle {
        let closure = CarriedClosure(reactor, run: runReactor, destroy: destroyReactor)
        let promise = promise(of: handle)
        let derived = PromiseExecutor.withPointer(executor) { executor in
            CancellationToken.withPointer(token) { token in
                reactWith(closure, to: promise, kind.core, on: executor, token: token)
            }
        }
        return .taking(derived)
    }

    /// Runs a reactor on an executor; it reads nothing.
    @usableFromInline
    static func work(
        on executor: PromiseExecutor?, _ reactor: UnsafeMutableRawPointer
    ) -> PromiseHandle {
        let closure = CarriedClosure(reactor, run: runReactor, destroy: destroyReactor)
        return .taking(PromiseExecutor.withPointer(executor) { workWith(closure, on: $0) })
    }
}

extension Promise {
    /// Registers a reaction.
    @inlinable
    consuming func react<NewSuccess, NewFailure>(
        _ kind: ReactionKind, on executor: PromiseExecutor?, _ token: CancellationToken?,
        _ reactor: consuming some Reactor
    ) -> Promise<NewSuccess, NewFailure> {
        if Self.isLeftAlone(by: NewFailure.self) {
            return shielded().attach(kind, on: executor, token, reactor)
        }
        return attach(kind, on: executor, token, reactor)
    }

    @inlinable
    consuming func attach<NewSuccess, NewFailure>(
        _ kind: ReactionKind, on executor: PromiseExecutor?, _ token: CancellationToken?,
        _ reactor: consuming some Reactor
    ) -> Promise<NewSuccess, NewFailure> {
        var carried = CarriedBytes(reactor)
        let handle = handle
        // So that this was the last copy, if the caller has none.
        _ = consume self
        return Promise<NewSuccess, NewFailure>(
            same: .react(to: consume handle, kind, on: executor, token, &carried))
    }

    /// Runs a reactor on an executor; it reads nothing.
    @inlinable
    static func work(on executor: PromiseExecutor?, _ reactor: consuming some Reactor) -> Promise {
        var carried = CarriedBytes(reactor)
        return Promise(same: .work(on: executor, &carried))
    }
}
