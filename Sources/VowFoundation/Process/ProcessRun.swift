// Brings together the three ends of a process: its own, and those of its pipes.

import Foundation
import Synchronization
import Vow

/// Settles the promise of a process when all three have come. After that it holds nothing: the process may keep its
/// handler, and with it this, for ever.
final class ProcessRun: Sendable {
    private struct State {
        let resolver: Resolver<ProcessOutput, any Error>
        let handler: (@Sendable (Process) -> Void)?
        var end: (status: Int32, reason: Process.TerminationReason)?
        var output: Result<Data, any Error>?
        var errors: Result<Data, any Error>?
        var stops: [@Sendable () -> Void] = []

        /// What it comes to; nil: something is still missing.
        var result: Result<ProcessOutput, any Error>? {
            guard let end, let output, let errors else { return nil }
            return Result {
                let output = try ProcessOutput(
                    standardOutput: output.get(), standardError: errors.get())
                if end.reason == .exit && end.status == 0 { return output }
                throw ProcessError(status: end.status, reason: end.reason, output: output)
            }
        }
    }

    private let state: Mutex<State?>

    /// - Parameter handler: called at the end of the process.
    init(
        _ resolver: Resolver<ProcessOutput, any Error>, _ handler: (@Sendable (Process) -> Void)?
    ) {
        state = Mutex(State(resolver: resolver, handler: handler))
    }

    /// Reads what there is to read. Nil: that stream is not collected.
    func read(_ output: PipeReader?, _ errors: PipeReader?) {
        let stops = [
            read(output) { state, result in state.output = result },
            read(errors) { state, result in state.errors = result },
        ]
        state.withLock { $0?.stops = stops.compactMap(\.self) }
    }

    private func read(
        _ reader: PipeReader?,
        _ keep: @escaping @Sendable (inout State, Result<Data, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        guard let reader else {
            note { keep(&$0, .success(Data())) }
            return nil
        }
        return reader.read { result in self.note { keep(&$0, result) } }
    }

    func ended(_ process: Process) {
        state.withLock { $0?.handler }?(process)
        let end = (process.terminationStatus, process.terminationReason)
        note { $0.end = end }
    }

    /// Nobody wants the output any more.
    func stop() {
        let state = state.withLock { $0.take() }
        for stop in state?.stops ?? [] { stop() }
    }

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
