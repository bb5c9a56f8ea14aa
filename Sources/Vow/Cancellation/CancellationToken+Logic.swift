// Tokens of several tokens: and, or.

import CVow

extension CancellationToken {
    /// Cancelled when either is, for its reason.
    public static func || (left: CancellationToken, right: CancellationToken) -> CancellationToken {
        CancellationSource(linkedTo: [left, right]).token
    }

    /// Cancelled when both are, for the reason of the one that comes last.
    ///
    /// What stands at the two tokens for that leaves them when nobody has the new one any more.
    public static func && (left: CancellationToken, right: CancellationToken) -> CancellationToken {
        // A linked token lives by those who have it, and its functions with it: so the gate, which only the two know, is
        // let go of with what was made of them.
        let gate = CancellationSource()
        let both = CancellationSource(linkedTo: [gate.token]).token
        let missing = Guarded(2)
        let presence = Presence(
            [left, right].map { token in
                token.onCancel {
                    let isLast = missing.withLock { missing in
                        missing -= 1
                        return missing == 0
                    }
                    if isLast { gate.cancel(forReasonOf: token) }
                }
            })
        both.onCancel { withExtendedLifetime(presence) {} }
        return both
    }
}

/// Ends with the functions that it has registered.
private final class Presence: Sendable {
    private let registrations: [CancellationRegistration]

    init(_ registrations: [CancellationRegistration]) { self.registrations = registrations }

    deinit { for registration in registrations { registration.leave() } }
}
