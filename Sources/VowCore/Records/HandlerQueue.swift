// First-in first-out lists of members, linked through their own memory.

/// Of reactions and observers, linked by their lanes: their slots are free meanwhile, so a cancellation can
/// settle them where they stand.
struct MemberList {
    private(set) var first: RecordPointer?
    private(set) var last: RecordPointer?

    init() {}

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    @inline(__always)
    mutating func append(_ member: RecordPointer) {
        member.lane = nil
        if let last { last.lane = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func prepend(_ member: RecordPointer) {
        member.lane = first
        if last == nil { last = member }
        first = member
    }

    @inline(__always)
    mutating func append(_ other: MemberList) {
        guard let head = other.first else { return }
        if let last { last.lane = head } else { first = head }
        last = other.last
    }

    @inline(__always)
    mutating func popFirst() -> RecordPointer? {
        guard let member = first else { return nil }
        first = member.lane
        if first == nil { last = nil }
        return member
    }

    /// Takes one member out of the middle, looking at no more than `limit` members.
    mutating func remove(_ wanted: RecordPointer, within limit: Int) -> Bool {
        var before: RecordPointer?
        var member = first
        var looked = 0
        while let current = member, looked < limit {
            if current == wanted {
                let after = current.lane
                if let before { before.lane = after } else { first = after }
                if after == nil { last = before }
                return true
            }
            before = current
            member = current.lane
            looked += 1
        }
        return false
    }

    /// The members of a stack (newest first) that is linked by lanes, oldest first.
    @inline(__always)
    init(reversing newest: RecordPointer?) {
        self.init()
        var member = newest
        while let current = member {
            member = current.lane
            prepend(current)
        }
    }
}

/// Of observers, linked by their lanes, and of cancelled promises of the library's own making, linked by their slots, in which
/// the second half has the error to come.
struct LeavingList {
    private(set) var first: RecordPointer?
    private var last: RecordPointer?

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    mutating func append(_ record: RecordPointer) {
        record.nextLeaving = nil
        if let last { last.nextLeaving = record } else { first = record }
        last = record
    }

    mutating func popFirst() -> RecordPointer? {
        guard let record = first else { return nil }
        first = record.nextLeaving
        if first == nil { last = nil }
        return record
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    fileprivate var nextLeaving: RecordPointer? {
        get { pointee.shape.isProduced ? next : lane }
        nonmutating set {
            if pointee.shape.isProduced { next = newValue } else { lane = newValue }
        }
    }
}

/// Of members on their way from one queue to another or to their outcome, linked by their slots. Whoever has
/// one cancelled meanwhile waits until it `isOut`, so no foreign code runs before the list is empty.
struct SlotList {
    private(set) var first: RecordPointer?
    private var last: RecordPointer?

    init() {}

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    mutating func append(_ member: RecordPointer) {
        member.unmark()
        member.next = nil
        if let last { last.next = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func prepend(_ member: RecordPointer) {
        member.unmark()
        member.next = first
        if last == nil { last = member }
        first = member
    }

    mutating func append(_ other: SlotList) {
        guard let head = other.first else { return }
        if let last { last.next = head } else { first = head }
        last = other.last
    }

    mutating func popFirst() -> RecordPointer? {
        guard let member = first else { return nil }
        first = member.nextOfUnmarked
        if first == nil { last = nil }
        return member
    }

    /// The members of a queue (newest first), oldest first.
    init(reversing newest: RecordPointer?) {
        self.init()
        var member = newest
        while let current = member {
            member = current.next
            prepend(current)
        }
    }
}
