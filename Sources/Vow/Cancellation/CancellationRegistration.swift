// A function that was registered, for who registered it.

import CVow

/// A function that ``CancellationToken/onCancel(_:)`` or ``PromiseResolver/onCancel(_:)`` was given: it can leave.
///
/// Letting this go changes nothing: the function stays registered.
public struct CancellationRegistration: Sendable {
    /// What has become of the function.
    public enum Stage: Sendable {
        /// It may be called still.
        case waiting
        /// It was called, and has not returned.
        case running
        /// It was called, and has returned.
        case hasRun
        /// It was not called, and never will be.
        case neverRuns
    }

    /// Nil: nobody could cancel, or no memory was left.
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

    /// The function is not to be called any more. In constant time, from anywhere, at any time, also inside the function,
    /// and more than once.
    ///
    /// - Returns: what has become of it, which is never ``Stage/waiting`` then. ``Stage/running`` and ``Stage/hasRun``: it
    ///   was too late. Nothing waits here for a function that is running. What the function holds is let go of in any case.
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
