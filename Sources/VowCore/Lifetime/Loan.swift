// In a checked build a handler gets its input in a box of its own, counted once: a handler that returns
// the input without having retained it is caught, whoever else holds the original.

#if VOW_CHECKED
    import CVow

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
