// The way back of a member of a queue: who stands before it, so that one can be taken out of the middle.
//
// Links and observers have a lane for it. A record without one, a plain promise that follows or a waiting thread, has
// it in the 48 bits that are free while it is a member: the high half of the word of `next`, which is then marked, and
// the place of `inlineLeft`, which is needed when the record has a value. An address with more bits than user space has
// (tagged, or of 57 bits) does not fit: such a member is looked for from the top.

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Under the lock of the promise. Nil: not known yet; see `unlink`.
    var wayBack: RecordPointer? {
        get {
            if pointee.shape.hasLane { return lane }
            let word = NextWord(slotWord.pointee.peek())
            if !word.isMarked { return nil }
            return RecordPointer(bitPattern: UInt(word.highHalf << 32 | UInt64(lowHalf)))
        }
        nonmutating set {
            if pointee.shape.hasLane {
                lane = newValue
            } else {
                let address = UInt64(UInt(bitPattern: newValue))
                let word = NextWord(next: next, highHalf: address >> 32)
                slotWord.pointee.poke(word?.bits ?? UInt64(UInt(bitPattern: next)))
                lowHalf = word == nil ? 0 : UInt32(truncatingIfNeeded: address)
            }
        }
    }

    @inline(__always)
    var hasWayBack: Bool {
        pointee.shape.hasLane ? lane != nil : NextWord(slotWord.pointee.peek()).isMarked
    }

    /// Changes who comes next, under the lock, and keeps the way back.
    func relink(to after: RecordPointer?) {
        let before = pointee.shape.hasLane ? nil : wayBack
        next = after
        if let before { wayBack = before }
    }

    /// It is in no queue any more, or not yet.
    @inline(__always)
    func forgetPlace() {
        if pointee.shape.hasLane { lane = nil } else { unmark() }
    }

    /// Of a member that was taken out of its queue, and whose lane may be another list's by now: what stands in the slot
    /// and in the place of `inlineLeft` is forgotten.
    @inline(__always)
    func unmark() {
        if !NextWord(slotWord.pointee.peek()).isMarked { return }
        next = next
        lowHalf = 0
    }

    private var lowHalf: UInt32 {
        @inline(__always) get { lowHalfAddress.load(as: UInt32.self) }
        nonmutating set { lowHalfAddress.storeBytes(of: newValue, as: UInt32.self) }
    }

    @inline(__always)
    private var lowHalfAddress: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + RecordOffset.lowHalfOfWayBack
    }
}

/// The word of `next`: an address; or, marked, an address of 48 bits and 16 bits of another one. packaging/gdb knows it,
/// too.
struct NextWord {
    let bits: UInt64

    private static let mark: UInt64 = 2
    private static let addressMask: UInt64 = 0x0000_ffff_ffff_fff0

    @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    /// Nil: one of the addresses does not fit.
    init?(next: RecordPointer?, highHalf: UInt64) {
        let address = UInt64(UInt(bitPattern: next))
        if address & ~NextWord.addressMask != 0 || highHalf >> 16 != 0 { return nil }
        bits = address | NextWord.mark | highHalf << 48
    }

    @inline(__always)
    var isMarked: Bool { bits & NextWord.mark != 0 }

    @inline(__always)
    var next: UInt64 { isMarked ? bits & NextWord.addressMask : bits }

    var highHalf: UInt64 { bits >> 48 }
}
