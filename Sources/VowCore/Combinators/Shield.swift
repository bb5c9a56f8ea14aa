// vow_shield: waited for, not cancelled. A link without handlers; see `isShield`.

import CVow

/// A promise (owned) that settles as the given one (consumed) does, and whose cancelling leaves that alone.
func shield(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer {
    react(
        to: promise,
        Reaction(
            shape: [.link, .finally], handler: nil, context: nil, executor: ownExecutors.inline),
        thread)
}
