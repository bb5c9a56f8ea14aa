// The memory of somebody who listens to the progress of a promise.

import CVow
import CVowPlatform

typealias ListenerPointer = UnsafeMutablePointer<Listener>

/// Read and written under the listeners' lock, also what is constant: changing a field is an access to all of them.
struct Listener {
    /// Among the listeners, by the promise.
    var place = TableMember()
    /// The next one to be told, for who has begun its delivery; and to be hurried, for who has a hold for that.
    var nextTold: ListenerPointer?
    var nextHurried: ListenerPointer?
    /// Somebody hurries it.
    var isHurried = false
    /// The promise that is this listener's as long as it is listed, the delivery that is on its way, and the hook.
    var holds = 1
    /// A delivery is on its way or running: there is only one at a time.
    var isDelivering = false
    /// It has come to its executor, or was called back because all is done: it does not end because it cannot run.
    var hasRun = false
    /// That delivery, if it waits for its time; owned.
    var delayed: RecordPointer?
    /// Which delivery it is.
    var round: UInt32 = 0
    /// There is something that has not been told.
    var hasNews = false
    var fraction = 0.0
    /// When it was told last; nil: never.
    var toldAt: Int64?

    let interval: Int64
    let fn: vow_progress_handler
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    /// Owned.
    let executor: ExecutorPointer
    /// The context and scope of the listener's maker, owned.
    let surroundings: Surroundings
    /// Owned. Once it is cancelled nothing is told any more.
    let token: SourcePointer?
    /// A handle of the hook that takes the listener out when the token is cancelled, for as long as it is listed.
    var hook: HookPointer?

    /// The note follows: a NUL after at most so many bytes, or nothing.
    static let longestNote = 127
    static let size = MemoryLayout<Listener>.stride + longestNote + 1

    /// Borrowed; nil: it has been freed.
    var promise: RecordPointer? {
        place.key.map { UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: Record.self) }
    }

    /// That all of the work is done is told in any case; a part of it only while there is something left to do.
    var isWanted: Bool {
        guard hasNews else { return false }
        if fraction >= 1 { return true }
        guard let promise else { return false }
        return !promise.pointee.state.read().hasValue
    }

    /// How long the next call has to wait, by the clock that says what time it is. An interval ends when the clock
    /// does, as the delay that is waited for.
    func timeLeft(at now: Int64) -> Int64 {
        guard let toldAt, fraction < 1 else { return 0 }
        let (sum, overflow) = min(toldAt, now).addingReportingOverflow(interval)
        return max((overflow ? Int64.max : sum) - now, 0)
    }
}

extension UnsafeMutablePointer where Pointee == Listener {
    var note: UnsafeMutablePointer<CChar> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Listener>.stride)
            .assumingMemoryBound(to: CChar.self)
    }

    func keep(_ fraction: Double, _ text: UnsafePointer<CChar>?) {
        pointee.fraction = fraction
        pointee.hasNews = true
        var note = TextBuffer(self.note, capacity: Listener.longestNote + 1)
        if let text { note.append(text, strnlen(text, Listener.longestNote)) }
    }
}
