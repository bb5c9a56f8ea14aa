// Work that its executor cannot run.

/// Why an executor cannot run a reaction.
enum Refusal {
    /// In a forked child.
    case forked
    /// It is an event loop that was destroyed, or the library's work in the process has ended.
    case shutDown
    /// The system gives no thread.
    case noThread
}

/// Rejects a reaction that its executor cannot run. A context is destroyed when the hand-over is over.
func refuse(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    switch reason {
    case .forked: reaction.passage.insert(.isRefused)
    case .shutDown: reaction.passage.insert([.isRefused, .isShutOut])
    case .noThread: reaction.passage.insert([.isRefused, .lacksThread])
    }
    performRefused(reaction, thread)
}
