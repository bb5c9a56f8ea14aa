// What a look ahead finds.

/// What stands between a waiting thread and the promise it waits for.
enum Obstacle {
    /// Other threads' work, as far as one can see.
    case blocked
    /// Work that must run where this thread blocks.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// Work that was left in the parent process.
    case forked
}
