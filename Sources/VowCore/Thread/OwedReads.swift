// What inline reactions of one delivery owe their promise.

/// References to a promise that inline reactions have not given back one by one, because others of the same
/// delivery are still to run on this thread and keep the promise.
struct OwedReads {
    private var promise: RecordPointer?
    private var count: UInt64 = 0

    /// Returns what is owed for another promise, to be given back now.
    @inline(__always)
    mutating func add(_ promise: RecordPointer) -> (promise: RecordPointer, count: UInt64)? {
        if self.promise == promise {
            count &+= 1
            return nil
        }
        let before = self.promise.map { ($0, count) }
        self.promise = promise
        count = 1
        return before
    }

    @inline(__always)
    mutating func take(of promise: RecordPointer) -> UInt64 {
        if self.promise != promise { return 0 }
        self.promise = nil
        return count
    }
}
