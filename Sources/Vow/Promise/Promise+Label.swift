// Names of promises, for debugging and tracing.

import CVow
import VowCore

extension Promise {
    /// Names the promise in traces, graphs and reports of unhandled rejections; returns the promise itself.
    ///
    /// While tracing is off this does nothing, and `label` is not even made.
    ///
    /// - Parameter label: 255 bytes of it count.
    @discardableResult
    public func labelled(_ label: @autoclosure () -> String) -> Promise {
        if isTraceOn() {
            withPointer { vow_promise_set_label($0, label().cut(toBytes: longestLabel)) }
        }
        return self
    }
}

private let longestLabel = 255

extension String {
    /// As much of the text as fits, in whole characters of Unicode.
    func cut(toBytes limit: Int) -> String {
        guard let end = utf8.index(startIndex, offsetBy: limit, limitedBy: endIndex) else {
            return self
        }
        return String(self[..<end])
    }
}
