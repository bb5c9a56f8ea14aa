// The table of live records, by address: open addressing, each entry as near behind its place as the entries before it
// allow. A second table has the names of sites: there a site is the record, and its name the label. `traceLock` guards
// both; a debugger, which reads the table of records, stops the program first.

import CVowPlatform

typealias TraceEntry = vow_trace_entry
typealias TraceEntryPointer = UnsafeMutablePointer<TraceEntry>

struct TraceTable {
    /// A power of two; no entries: 0.
    private(set) var capacity = 0
    private(set) var count = 0
    private var entries: TraceEntryPointer?
    private var lastID: UInt64 = 0
    /// Debuggers read this table.
    private let isShown: Bool

    init(isShown: Bool = false) { self.isShown = isShown }

    func find(_ record: UnsafeRawPointer) -> TraceEntryPointer? {
        guard let entries else { return nil }
        let place = place(of: record, in: entries)
        return entries[place].record == nil ? nil : entries + place
    }

    /// A new entry, all zero but for its record and id; nil without memory.
    mutating func insert(_ record: UnsafeRawPointer) -> TraceEntryPointer? {
        if (count + 1) * 4 > capacity * 3 && !grow() && count + 1 >= capacity { return nil }
        guard let entries else { return nil }
        let entry = entries + place(of: record, in: entries)
        lastID += 1
        entry.pointee = TraceEntry()
        entry.pointee.record = record
        entry.pointee.id = lastID
        entry.pointee.progress = -1
        count += 1
        publish()
        return entry
    }

    /// Frees the entry's label too. Other entries may move.
    mutating func remove(_ entry: TraceEntryPointer) {
        guard let entries else { return }
        setLabel(of: entry, nil)
        var hole = entry - entries
        var place = hole
        while true {
            place = (place + 1) & (capacity - 1)
            guard let record = entries[place].record else { break }
            // An entry may move to the hole if the hole lies between its home and its place.
            let distance = (place - home(of: record)) & (capacity - 1)
            if distance >= (place - hole) & (capacity - 1) {
                entries[hole] = entries[place]
                hole = place
            }
        }
        entries[hole].record = nil
        count -= 1
        publish()
    }

    mutating func removeAll() {
        forEach { setLabel(of: $0, nil) }
        if let entries { freeMemory(entries, capacity * MemoryLayout<TraceEntry>.stride) }
        entries = nil
        capacity = 0
        count = 0
        publish()
    }

    /// Calls the body with each entry, in no order. The body neither inserts nor removes any.
    func forEach(_ body: (TraceEntryPointer) -> Void) {
        guard let entries else { return }
        for place in 0..<capacity where entries[place].record != nil { body(entries + place) }
    }

    private func home(of record: UnsafeRawPointer) -> Int {
        Int(hashOfAddress(record) >> 32) & (capacity - 1)
    }

    /// The place of a record's entry, or of its future entry.
    private func place(of record: UnsafeRawPointer, in entries: TraceEntryPointer) -> Int {
        var place = home(of: record)
        while let other = entries[place].record, other != record {
            place = (place + 1) & (capacity - 1)
        }
        return place
    }

    private mutating func grow() -> Bool {
        let (old, oldCapacity) = (entries, capacity)
        let larger = capacity == 0 ? 1024 : capacity * 2
        let size = larger * MemoryLayout<TraceEntry>.stride
        guard let memory = allocateMemory(size) else { return false }
        memset(memory, 0, size)
        let new = memory.bindMemory(to: TraceEntry.self, capacity: larger)
        entries = new
        capacity = larger
        guard let old else { return true }
        for index in 0..<oldCapacity {
            if let record = old[index].record { new[place(of: record, in: new)] = old[index] }
        }
        // Before the old memory is freed: a debugger may stop the program in between.
        publish()
        freeMemory(old, oldCapacity * MemoryLayout<TraceEntry>.stride)
        return true
    }

    private func publish() {
        if isShown { vow_platform_show_trace(entries, UInt64(capacity), UInt64(count)) }
    }
}

let longestLabel = 255

/// Copies the label, cut at `most` bytes; nil: no label. Without memory there is no label either.
func setLabel(
    of entry: TraceEntryPointer, _ label: UnsafePointer<CChar>?, most: Int = longestLabel
) {
    if let old = entry.pointee.label { freeMemory(old, strlen(old) + 1) }
    entry.pointee.label = nil
    guard let label else { return }
    let length = strnlen(label, most)
    guard let copy = allocateMemory(length + 1) else { return }
    let text = copy.bindMemory(to: CChar.self, capacity: length + 1)
    memcpy(text, label, length)
    text[length] = 0
    entry.pointee.label = text
}
