// References to promises and values, and how these are freed.
//
// A count that equals the caller's references cannot change, so the last release is one load, which acquires the releases
// before it: see `Counts`. Freeing is a loop over the thread's list of dead objects, not a recursion. No object is freed while
// members are handed over, because a destructor might wait for one.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    func release(_ thread: ThreadPointer) {
        // This may be the last reader of a promise that is still to be settled.
        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }
    }

    /// For a producer that has settled the promise, or is handing it on; else see `releaseResolver`.
    @inline(__always)
    func releaseProducer(_ thread: ThreadPointer) { giveBack(Counts.oneProducer, thread) }

    func endVisit(_ thread: ThreadPointer) { giveBack(Counts.oneVisitor, thread) }

    /// Gives several references back, of a promise with a value or of its producer.
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
    /// Adds a reference and returns the value. Relaxed: the caller has a reference.
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

/// Frees a record: at once, even within a step, if it is settled and nothing foreign can be called (no error, token, context or
/// listener). Its box goes on the thread's list.
@inline(never)
func reclaim(_ record: RecordPointer, _ thread: ThreadPointer) {
    let isSettled = record.pointee.state.read().bits == Phase.settled.bits
    if isSettled && record.value.kind < VOW_STRING && record.isBareLink && !isWatched {
        // The usual link of a chain.
        freeMemory(of: record, size: Shape.link.recordSize, thread)
    } else if !isSettled || !record.holdsOnlyContent || record.hasErrorToReport {
        pushDead(record, thread)
        drainDeadUnlessBusy(thread)
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
    drainDeadUnlessBusy(thread)
}

func reclaim(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    pushDead(executor, thread)
    drainDeadUnlessBusy(thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The settled promise has no token, context or listener.
    @inline(__always)
    fileprivate var holdsOnlyContent: Bool {
        !pointee.shape.isTravelling && !pointee.flags.contains(RecordFlag.hasListeners)
    }

    /// The settled promise has an error that no reader has observed, or a promise as its value.
    @inline(__always)
    fileprivate var hasErrorToReport: Bool {
        value.kind >= VOW_ERROR
            && !(value.isError && (pointee.isObserved.isSet || value.isCancellation))
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
// In a checked build a handler gets its input in a box of its own, counted once. So a handler that returns its input without
// retaining it is caught, whatever other references there are.

#if VOW_CHECKED
    struct Loan {
        let value: vow_value

        init(_ input: vow_value, _ thread: ThreadPointer) {
            var own = input.box.flatMap { lend(input, $0) } ?? input.retained()
            // The maker's mark of the value's type.
            own.reserved = input.reserved
            value = own
        }

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

    /// A copy that shares the contents of the original. Nil without memory, or for a value that is never counted.
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
