// Foundation's errors that represent a cancellation.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLError: CancellableError {
    /// Whether the request was cancelled, by the program or by the user who was asked for a
    /// password.
    public var isCancelled: Bool { code == .cancelled || code == .userCancelledAuthentication }
}

extension CocoaError: CancellableError {
    public var isCancelled: Bool { code == .userCancelled }
}
