// Waking a thread that waits, or telling it to look again.

import CVow
import CVowPlatform

/// Wakes a waiting thread, whose record must not be touched afterwards.
func wake(_ waiter: RecordPointer) {
    if let event = Parking.event(in: waiter.pointee.counts.loadRelaxed()) {
        // First: once it is done, the loop may be gone. Until then its thread does not leave.
        vow_platform_raise(event)
        waiter.pointee.counts.storeRelease(Parking.done)
        return
    }
    unparkDone(waiter.pointee.counts, at: waiter.parkingAddress)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a waiter: makes its thread look again.
    func nudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word) {
            let nudged = Parking.inLoop(raising: event) &- Parking.inLoop &+ Parking.nudgedInLoop
            // Fails where it is nudged already, or done.
            _ = pointee.counts.replaceAcquireRelease(word, nudged)
            vow_platform_raise(event)
        } else {
            unparkToLook(pointee.counts, at: parkingAddress)
        }
    }

    /// Of a waiter whose thread runs a loop: whether it was nudged since it has last begun to look.
    var isNudged: Bool { Parking.isNudgedInLoop(pointee.counts.loadAcquire()) }

    /// It begins to look. Acquires what the nudge is about.
    func takeNudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word), Parking.isNudgedInLoop(word) {
            _ = pointee.counts.replaceAcquire(word, Parking.inLoop(raising: event))
        }
    }

    /// Of a waiter: its count is the parking word. Little-endian, so the low half comes first.
    var parkingAddress: UnsafeRawPointer {
        UnsafeRawPointer(self) + MemoryLayout<UInt64>.size
    }
}
