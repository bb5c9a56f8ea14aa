// Brings together the ends of a process: its own, and that of its pipes.

import Foundation
import Vow

/// Settles the promise of a process when both have come. After that it holds nothing: the process may keep its handler,
/// and with it this, for ever.
final class ProcessRun: Sendable {
    private struct State {
        let resolver: PromiseResolver<ProcessOutput, any Error>
        let handler: (@Sendable (Process) -> Void)?
        var reader: PipeReader?
        var end: (status: Int32, reason: Process.TerminationReason)?
        var written: Result<[Data], any Error>?

        /// The result; nil: a part is still missing.
        var result: Result<ProcessOutput, any Error>? {
            guard let end, let written else { return nil }
            return Result {
                let data = try written.get()
                let output = ProcessOutput(standardOutput: data[0], standardError: data[1])
                if end.reason == .exit && end.status == 0 { return output }
                throw ProcessError(status: end.status, reason: end.reason, output: output)
            }
        }
    }

    private let state: Guarded<State?>
    /// The process until its end, also when no promise waits for that: Foundation uses it then.
    private let process = Guarded<Process?>(nil)

    /// - Parameter handler: called at the end of the process.
    init(
        _ resolver: PromiseResolver<ProcessOutput, any Error>,
        _ handler: (@Sendable (Process) -> Void)?
    ) {
        state = Guarded(State(resolver: resolver, handler: handler))
    }

    /// Runs the process and reads its pipes. Nil: that stream is not collected.
    func start(_ process: Process, _ output: Pipe?, _ errors: Pipe?) throws {
        self.process.withLock { $0 = process }
        do { try process.run() } catch {
            self.process.withLock { $0 = nil }
            throw error
        }
        let files = [output?.fileHandleForReading, errors?.fileHandleForReading]
        let reader = PipeReader(files) { written in self.note { $0.written = written } }
        state.withLock { $0?.reader = reader }
    }

    func ended(_ process: Process) {
        state.withLock { $0?.handler }?(process)
        let end = (process.terminationStatus, process.terminationReason)
        note { $0.end = end }
        self.process.withLock { $0 = nil }
    }

    /// The output has no reader any more.
    func stop() { state.withLock { $0.take() }?.reader?.stop() }

    private func note(_ change: (inout State) -> Void) {
        let whole = state.withLock { state -> State? in
            guard var next = state.take() else { return nil }
            change(&next)
            if next.result != nil { return next }
            state = next
            return nil
        }
        if let whole, let result = whole.result { whole.resolver.resolve(with: result) }
    }
}
