// What keeps promises and values alive, and how they are freed.
//
// A count that says "one reference, and it is mine" cannot change under the owner, so the last release needs no
// read-modify-write. The acquire in that load pairs with the release half of every other thread's decrement: what they did
// to the object happened before it is freed.
//
// Freeing is no recursion: what dies goes on a list of its thread, and a loop empties the list. While members of a settled
// promise are being handed over nothing is freed: a destructor might wait for one of them.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    func release(_ thread: ThreadPointer) {
        // A promise that is still to be settled may lose its last reader by this.
        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }
    }

    /// For producers that have settled the promise, or are handing it on; see `releaseResolver` for the
    /// others.
    @inline(__always)
    func releaseProducer(_ thread: ThreadPointer) { giveBack(Counts.oneProducer, thread) }

    func endVisit(_ thread: ThreadPointer) { giveBack(Counts.oneVisitor, thread) }

    /// Several references at once, of a promise with a value or those of its producer.
    @inline(__always)
    func giveBack(_ units: UInt64, _ thread: ThreadPointer) {
        if pointee.shape.contains(.immortal) { return }
        if pointee.counts.loadAcquire() != units {
            if pointee.counts.subtractAcquireRelease(units) != units { return }
        }
        reclaim(self, thread)
    }
}

extension vow_value {
    /// One more reference; returns the value. Relaxed: the caller has one already.
    @inline(__always)
    @discardableResult
    func retained() -> vow_value {
        if kind >= VOW_STRING { retainSlowly() }
        return self
    }

    private func retainSlowly() {
        if let box {
            if !box.pointee.isImmortal { _ = box.pointee.count.addRelaxed(1) }
        } else if let promise {
            promise.retain()
        }
    }

    @inline(__always)
    func release(_ thread: ThreadPointer) {
        if kind >= VOW_STRING { releaseSlowly(thread) }
    }

    private func releaseSlowly(_ thread: ThreadPointer) {
        if let box {
            box.release(thread)
        } else if let promise {
            promise.release(thread)
        }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    func release(_ thread: ThreadPointer) {
        if pointee.isImmortal { return }
        if pointee.count.loadAcquire() != 1 {
            if pointee.count.subtractAcquireRelease(1) != 1 { return }
        }
        reclaim(self, thread)
    }
}

// MARK: Freeing promises

/// At once where nothing can be called by that, which is most often the case. The box that it held goes on the list.
@inline(never)
func reclaim(_ record: RecordPointer, _ thread: ThreadPointer) {
    let isSettled = record.pointee.state.read().bits == Phase.settled.bits
    if isSettled && record.value.kind < VOW_STRING && record.isBareLink && !isWatched {
        // The usual link of a chain.
        freeMemory(of: record, size: Shape.link.recordSize, thread)
    } else if !isSettled || !record.holdsOnlyContent {
        pushDead(record, thread)
        drainLeftoversUnlessBusy(thread)
    } else if record.value.kind < VOW_STRING {
        freeMemory(of: record, thread)
    } else {
        freeWithBox(record, thread)
    }
}

@inline(never)
private func freeWithBox(_ record: RecordPointer, _ thread: ThreadPointer) {
    let value = record.value
    freeMemory(of: record, thread)
    value.release(thread)
}

@inline(never)
func reclaim(_ box: BoxPointer, _ thread: ThreadPointer) {
    pushDead(box, thread)
    drainLeftoversUnlessBusy(thread)
}

func reclaim(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    pushDead(executor, thread)
    drainLeftoversUnlessBusy(thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// A settled promise's value is no error, and it has no token, context or listeners.
    @inline(__always)
    fileprivate var holdsOnlyContent: Bool {
        value.kind < VOW_ERROR && !pointee.shape.isTravelling
            && !pointee.flags.contains(RecordFlag.hasListeners)
    }
}

func freeMemory(of record: RecordPointer, _ thread: ThreadPointer) {
    if isWatched { noteFreed(record) }
    freeMemory(of: record, size: record.recordSize, thread)
}

@inline(__always)
private func freeMemory(of record: RecordPointer, size: Int, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.promisesFreed)
    #if VOW_CHECKED
        record.pointee.seal = Seal.freed
    #endif
    giveMemoryBackHere(record, size, thread.cell)
}

// MARK: Freeing what a value stood for

func freeBox(_ box: BoxPointer, _ thread: ThreadPointer) {
    switch box.pointee.kind {
    case _ where box.isLate:
        let cls = box.part(LatePart.self).pointee.cls
        runForeign(thread) { cls.pointee.destroy(UnsafeMutableRawPointer(box.content)) }
        if let made = box.alreadyMade { vow_value(box.pointee.kind, made).release(thread) }
    case VOW_OBJECT:
        let object = box.part(ObjectPart.self).pointee
        if let lender = object.lender {
            lender.release(thread)
        } else if let destroy = box.cls?.pointee.destroy {
            runForeign(thread) { destroy(object.pointer) }
        }
    case VOW_LIST:
        for index in 0..<box.part(ListPart.self).pointee.count { box.items[index].release(thread) }
    case VOW_ERROR:
        box.part(ErrorPart.self).pointee.payload.release(thread)
    default:
        break
    }
    #if VOW_CHECKED
        box.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(box, box.size)
}

// MARK: Values on loan
//
// In a checked build a handler gets its input in a box of its own, counted once: a handler that returns
// the input without having retained it is caught, whatever else holds the original.

#if VOW_CHECKED
    struct Loan {
        let value: vow_value

        init(_ input: vow_value, _ thread: ThreadPointer) {
            var own = input.box.flatMap { lend(input, $0) } ?? input.retained()
            // Of which type it is says its maker there.
            own.reserved = input.reserved
            value = own
        }

        /// The handler has returned `result`.
        func end(returning result: vow_value, _ thread: ThreadPointer) {
            if let mine = value.box, let returned = result.box, mine == returned,
                mine.pointee.count.loadAcquire() == 1, !mine.pointee.isImmortal
            {
                fatal(
                    "a handler returned its input, which is borrowed, without vow_value_retain")
            }
            value.release(thread)
        }
    }

    /// A copy that shares what the original contains; nil without memory, or for what is never counted.
    private func lend(_ input: vow_value, _ box: BoxPointer) -> vow_value? {
        if box.pointee.isImmortal || box.isLate { return nil }
        switch input.kind {
        case VOW_STRING:
            return makeString(box.bytes, length: box.part(StringPart.self).pointee.length)
        case VOW_OBJECT:
            let part = box.part(ObjectPart.self).pointee
            guard let cls = box.cls, let copy = makeObject(part.pointer, cls) else { return nil }
            input.retained()
            copy.box?.part(ObjectPart.self).pointee.lender = box
            return copy
        case VOW_LIST:
            let count = box.part(ListPart.self).pointee.count
            guard let copy = makeList(box.items, count: count) else { return nil }
            for index in 0..<count { box.items[index].retained() }
            return copy
        case VOW_ERROR:
            return makeErrorCopy(of: input)
        default:
            return nil
        }
    }
#endif
