// The table of live records, by address: open addressing, each entry as near behind its place as those before it
// allow. All under the tracing's lock, but for a debugger, which stops the program first.

import CVowPlatform

typealias TraceEntry = vow_trace_entry
typealias TraceEntryPointer = UnsafeMutablePointer<TraceEntry>

struct TraceTable {
    /// A power of two; no entries: 0.
    private(set) var capacity = 0
    private(set) var count = 0
    private var entries: TraceEntryPointer?
    private var lastID: UInt64 = 0

    func find(_ record: UnsafeRawPointer) -> TraceEntryPointer? {
        guard let entries else { return nil }
        var place = home(of: record)
        while let found = entries[place].record {
            if found == record { return entries + place }
            place = (place + 1) & (capacity - 1)
        }
        return nil
    }

    /// A new entry, all zero but for its record and id; nil without memory: the record stays unknown.
    mutating func insert(_ record: UnsafeRawPointer) -> TraceEntryPointer? {
        if (count + 1) * 4 > capacity * 3 && !grow() && count + 1 >= capacity { return nil }
        guard let entries else { return nil }
        let place = freePlace(for: record, in: entries)
        lastID += 1
        entries[place] = TraceEntry()
        entries[place].record = record
        entries[place].id = lastID
        entries[place].progress = -1
        count += 1
        publish()
        return entries + place
    }

    /// The entry's label goes with it. Others may move.
    mutating func remove(_ entry: TraceEntryPointer) {
        guard let entries else { return }
        freeLabel(of: entry)
        var hole = entry - entries
        var place = hole
        while true {
            place = (place + 1) & (capacity - 1)
            guard let record = entries[place].record else { break }
            // It may stand in the hole if that lies between its home and where it stands.
            let isFar = (place - home(of: record)) & (capacity - 1)
            if isFar >= (place - hole) & (capacity - 1) {
                entries[hole] = entries[place]
                hole = place
            }
        }
        entries[hole].record = nil
        count -= 1
        publish()
    }

    mutating func removeAll() {
        var place = 0
        while let entry = next(&place) { freeLabel(of: entry) }
        if let entries { freeMemory(entries, capacity * MemoryLayout<TraceEntry>.stride) }
        entries = nil
        capacity = 0
        count = 0
        publish()
    }

    /// One entry after the other, in no order: from 0 on, while nothing is inserted or removed.
    func next(_ place: inout Int) -> TraceEntryPointer? {
        guard let entries else { return nil }
        while place < capacity {
            defer { place += 1 }
            if entries[place].record != nil { return entries + place }
        }
        return nil
    }

    private func home(of record: UnsafeRawPointer) -> Int {
        Int(hashOfAddress(record) >> 32) & (capacity - 1)
    }

    private func freePlace(for record: UnsafeRawPointer, in entries: TraceEntryPointer) -> Int {
        var place = home(of: record)
        while entries[place].record != nil { place = (place + 1) & (capacity - 1) }
        return place
    }

    private mutating func grow() -> Bool {
        let old = (entries: entries, capacity: capacity)
        let larger = capacity == 0 ? 1024 : capacity * 2
        guard let memory = allocateMemory(larger * MemoryLayout<TraceEntry>.stride) else {
            return false
        }
        memset(memory, 0, larger * MemoryLayout<TraceEntry>.stride)
        let new = memory.bindMemory(to: TraceEntry.self, capacity: larger)
        entries = new
        capacity = larger
        for place in 0..<old.capacity {
            guard let entry = old.entries?[place], let record = entry.record else { continue }
            new[freePlace(for: record, in: new)] = entry
        }
        // Before the old one is freed: a debugger may stop the program in between.
        publish()
        if let before = old.entries {
            freeMemory(before, old.capacity * MemoryLayout<TraceEntry>.stride)
        }
        return true
    }

    /// For debuggers.
    private func publish() {
        vow_platform_show_trace(entries, UInt64(capacity), UInt64(count))
    }
}

func freeLabel(of entry: TraceEntryPointer) {
    guard let label = entry.pointee.label else { return }
    freeMemory(label, strlen(label) + 1)
    entry.pointee.label = nil
}

/// A copy, cut at `longestLabel` bytes; nil: none. Without memory there is none either.
func setLabel(of entry: TraceEntryPointer, _ label: UnsafePointer<CChar>?) {
    freeLabel(of: entry)
    guard let label else { return }
    let length = min(strlen(label), longestLabel)
    guard let copy = allocateMemory(length + 1) else { return }
    memcpy(copy, label, length)
    let text = copy.bindMemory(to: CChar.self, capacity: length + 1)
    text[length] = 0
    entry.pointee.label = text
}

let longestLabel = 255
