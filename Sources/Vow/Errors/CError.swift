// An error that C rejected with.

import CVow

/// An error of a C program, with its domain and code, kept as it is: given back to C, it is the same one.
public struct CError: Error, Sendable {
    /// The C value, a `VOW_ERROR`.
    public let cValue: CValue

    init(_ cValue: CValue) { self.cValue = cValue }

    /// An error for C programs to recognise.
    public init(domain: String, code: Int64, message: String = "") {
        cValue = CValue(taking: vow_error(domain, code, message))
    }

    public var domain: String {
        vow_error_domain(cValue.rawValue).map { String(cString: $0) } ?? ""
    }
    public var code: Int64 { vow_error_code(cValue.rawValue) }
    public var message: String {
        vow_error_message(cValue.rawValue).map { String(cString: $0) } ?? ""
    }

    /// The cause or payload; nil if it has none.
    public var payload: CValue? {
        let payload = vow_error_payload(cValue.rawValue)
        return payload.kind == VOW_NONE ? nil : CValue(cValue: payload)
    }

    /// The error as data alone: objects and promises in its payload are left out. So it can be kept after the plug-in
    /// that rejected with it is unloaded.
    public var plain: CError { CError(CValue(taking: vow_error_plain(cValue.rawValue))) }
}

extension CError: CustomStringConvertible {
    public var description: String { "\(domain) \(code): \(message)" }
}
