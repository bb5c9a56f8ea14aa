// A first-in first-out list of members, linked through their own memory.

struct MemberList {
    private(set) var first: RecordPointer?
    private(set) var last: RecordPointer?

    init() {}

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    @inline(__always)
    mutating func append(_ member: RecordPointer) {
        member.next = nil
        if let last { last.next = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func prepend(_ member: RecordPointer) {
        member.next = first
        if last == nil { last = member }
        first = member
    }

    @inline(__always)
    mutating func append(_ other: MemberList) {
        guard let head = other.first else { return }
        if let last { last.next = head } else { first = head }
        last = other.last
    }

    @inline(__always)
    mutating func popFirst() -> RecordPointer? {
        guard let member = first else { return nil }
        first = member.next
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
                let after = current.next
                if let before { before.next = after } else { first = after }
                if after == nil { last = before }
                return true
            }
            before = current
            member = current.next
            looked += 1
        }
        return false
    }

    /// The members of a stack (newest first), oldest first.
    @inline(__always)
    init(reversing newest: RecordPointer?) {
        self.init()
        var member = newest
        while let current = member {
            member = current.next
            prepend(current)
        }
    }
}
