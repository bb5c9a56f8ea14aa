// A process as a promise.

public import Foundation
public import Vow

extension Process {
    /// Runs the process; the promise of its output, once it has ended and its pipes are closed.
    ///
    /// Standard output and standard error are collected, unless they were set to another place than this program's own
    /// streams, their default. An end with another status than 0, or by a signal, rejects with ``ProcessError``; a
    /// process that cannot be run, with Foundation's error. When the promise is cancelled, or loses its last reader,
    /// the process is asked to terminate, as by `terminate()`. A `terminationHandler` that was set before is called as
    /// well.
    ///
    /// ```swift
    /// let process = Process()
    /// process.executableURL = URL(fileURLWithPath: "/bin/ls")
    /// let files = process.promise().map { $0.text.split(separator: "\n") }
    /// ```
    public func promise() -> Promise<ProcessOutput, any Error> {
        let before = (terminationHandler, standardOutput, standardError)
        let output = pipe(\.standardOutput, insteadOf: .standardOutput)
        let errors = pipe(\.standardError, insteadOf: .standardError)
        let (promise, resolver) = Promise<ProcessOutput, any Error>.pending()
        let run = ProcessRun(resolver, terminationHandler)
        terminationHandler = { run.ended($0) }
        do { try run.start(self, output, errors) } catch {
            (terminationHandler, standardOutput, standardError) = before
            resolver.reject(error)
            return promise
        }
        resolver.onCancel {
            self.terminate()
            run.stop()
        }
        return promise
    }

    /// A pipe in the place of one of this program's own streams, unless that stream has been set.
    private func pipe(
        _ stream: ReferenceWritableKeyPath<Process, Any?>, insteadOf own: FileHandle
    ) -> Pipe? {
        if let set = self[keyPath: stream], set as AnyObject !== own { return nil }
        let pipe = Pipe()
        self[keyPath: stream] = pipe
        return pipe
    }
}
