// The output of a process.

public import Foundation

/// The output of a process until its end. Empty if the process was given a place of its own to write to.
public struct ProcessOutput: Sendable, Hashable {
    public let standardOutput: Data
    public let standardError: Data

    public init(standardOutput: Data, standardError: Data) {
        self.standardOutput = standardOutput
        self.standardError = standardError
    }

    /// The standard output as UTF-8; invalid bytes are replaced.
    public var text: String { String(decoding: standardOutput, as: UTF8.self) }

    /// The standard error as UTF-8; invalid bytes are replaced.
    public var errorText: String { String(decoding: standardError, as: UTF8.self) }
}

/// A process has ended with another status than 0, or by a signal.
public struct ProcessError: Error, Sendable {
    /// The exit status, or the number of the signal.
    public let status: Int32
    public let reason: Process.TerminationReason
    public let output: ProcessOutput

    public init(status: Int32, reason: Process.TerminationReason, output: ProcessOutput) {
        self.status = status
        self.reason = reason
        self.output = output
    }

    public var standardError: Data { output.standardError }
}

extension ProcessError: CustomStringConvertible {
    public var description: String {
        let end = reason == .exit ? "ended with status" : "was ended by signal"
        let said = output.errorText.trimmingCharacters(in: .whitespacesAndNewlines)
        return "the process \(end) \(status)" + (said.isEmpty ? "" : ": \(said)")
    }
}
