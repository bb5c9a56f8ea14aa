// What a thread remembers: the custom executor that it belonged to when it was last asked.
//
// Nobody keeps the executor by that: it has a list of the threads that remember it, and ends it when it is freed. All
// under the directory's lock. Other threads write a thread's links, so these are words: to ThreadSanitizer, changing a
// plain field would be an access to all that the thread has.

struct AmbientMemory: ~Copyable {
    private let executorWord: AtomicWord
    private let next: AtomicWord
    private let previous: AtomicWord

    var executor: ExecutorPointer? {
        ExecutorPointer(bitPattern: UInt(executorWord.peek()))
    }

    /// By the thread whose memory it is. One whose end would go unnoticed remembers nothing.
    func remember(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
        if !thread.cell.pointee.isListed { return }
        forget()
        let first = executor.pointee.firstRemembering
        executorWord.poke(word(of: executor))
        next.poke(word(of: first))
        VowCore.thread(in: first)?.pointee.ambient.previous.poke(word(of: thread))
        executor.pointee.firstRemembering = UnsafeMutableRawPointer(thread)
    }

    func forget() {
        guard let executor = executor else { return }
        let (after, before) = (address(in: next), address(in: previous))
        VowCore.thread(in: after)?.pointee.ambient.previous.poke(word(of: before))
        if let before = VowCore.thread(in: before) {
            before.pointee.ambient.next.poke(word(of: after))
        } else {
            executor.pointee.firstRemembering = after
        }
        executorWord.poke(0)
        next.poke(0)
        previous.poke(0)
    }

    /// The list of its executor was emptied.
    func beAlone(_ thread: ThreadPointer) {
        next.poke(0)
        previous.poke(0)
        executor?.pointee.firstRemembering = UnsafeMutableRawPointer(thread)
    }
}

/// The executor is freed.
func forgetByAll(_ executor: ExecutorPointer) {
    while let thread = thread(in: executor.pointee.firstRemembering) {
        thread.pointee.ambient.forget()
    }
}

private func thread(in address: UnsafeMutableRawPointer?) -> ThreadPointer? {
    address?.assumingMemoryBound(to: ThreadState.self)
}

private func address(in word: borrowing AtomicWord) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(word.peek()))
}
