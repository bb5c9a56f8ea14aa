// Tokens of several tokens: and, or.

import CVow

extension CancellationToken {
    /// Cancelled when either is, for its reason.
    public static func || (left: CancellationToken, right: CancellationToken) -> CancellationToken {
        CancellationSource(linkedTo: [left, right]).token
    }

    /// A token that is cancelled when both are, for the reason of the later one.
    ///
    /// Its registrations at the two tokens are removed when its last reference goes.
    public static func && (left: CancellationToken, right: CancellationToken) -> CancellationToken {
        // A linked token and its functions live as long as its references. So the gate, which only the two functions
        // know, is released with the last token made of them.
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
