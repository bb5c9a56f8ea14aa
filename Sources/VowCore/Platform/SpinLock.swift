// A lock for a few instructions, in one word, that needs no memory and no set-up.

struct SpinLock: ~Copyable, Sendable {
    private let word = AtomicWord(0)

    init() {}

    /// Acquires; pairs with the release in `unlock`. Never held across foreign code.
    @inline(__always)
    func lock() {
        if !word.replaceAcquire(0, 1).exchanged { lockSlowly() }
    }

    @inline(never)
    private func lockSlowly() {
        var pause = Backoff()
        while !word.replaceAcquire(0, 1).exchanged { pause.wait() }
    }

    @inline(__always)
    func unlock() { word.storeRelease(0) }

    @inline(__always)
    func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
