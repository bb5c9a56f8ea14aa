// The registration of a function with a token.

import CVow

/// A function that ``CancellationToken/onCancel(_:)`` or ``PromiseResolver/onCancel(_:)`` was given: it can leave.
///
/// Letting this go changes nothing: the function stays registered.
public struct CancellationRegistration: Sendable {
    /// The fate of the function.
    public enum Stage: Sendable {
        /// The function may still be called.
        case waiting
        /// The function was called, and has not returned.
        case running
        /// The function was called, and has returned.
        case hasRun
        /// The function was not called, and never will be.
        case neverRuns
    }

    /// Nil: no source can cancel, or no memory was left.
    private let handle: Handle?

    /// Registers an action with `enter`, which is vow_token_register or its like.
    init(
        _ action: @escaping @Sendable () -> Void,
        _ enter: (
            HookFunction, UnsafeMutableRawPointer, HookFunction,
            UnsafeMutablePointer<OpaquePointer?>
        ) -> Int32
    ) {
        var registration: OpaquePointer?
        let hook = HookClosure(action)
        _ = enter(HookClosure.call, hook.retained(), HookClosure.release, &registration)
        handle = registration.map { Handle($0, release: vow_registration_release) }
    }

    /// Unregisters the function. Takes constant time, and may be called on any thread, at any time, also inside the
    /// function, and more than once.
    ///
    /// - Returns: the fate of the function, which is never ``Stage/waiting`` then. ``Stage/running`` and ``Stage/hasRun``:
    ///   the call came too late. It does not wait for a running function. The captures are released in any case.
    @discardableResult
    public func leave() -> Stage { Stage(handle?.withPointer { vow_registration_leave($0) }) }

    public var stage: Stage { Stage(handle?.withPointer { vow_registration_stage($0) }) }
}

extension CancellationRegistration.Stage {
    fileprivate init(_ stage: vow_stage?) {
        switch stage {
        case VOW_WAITING: self = .waiting
        case VOW_RUNNING: self = .running
        case VOW_HAS_RUN: self = .hasRun
        default: self = .neverRuns
        }
    }
}
