// Who listens to the progress of which promise: lists in buckets, by the promise's address. A promise that has
// listeners has a flag, so that those without never come here.

import CVow
import CVowPlatform

let listenersLock = SpinLock()

/// The first listener of a promise's bucket. Under the lock, like all of this.
private func bucket(of promise: RecordPointer) -> UnsafeMutablePointer<ListenerPointer?> {
    let index = Int(hashOfAddress(promise) >> 56)
    return vow_platform_buckets()!.assumingMemoryBound(to: ListenerPointer?.self) + index
}

func list(_ listener: ListenerPointer, for promise: RecordPointer) {
    let first = bucket(of: promise)
    listener.pointee.next = first.pointee
    first.pointee = listener
}

/// Calls body with each listener of a promise.
func forEachListener(of promise: RecordPointer, _ body: (ListenerPointer) -> Void) {
    var listener = bucket(of: promise).pointee
    while let current = listener {
        listener = current.pointee.next
        if current.pointee.promise == promise { body(current) }
    }
}

/// Takes them all out, as a list.
func unlist(allOf promise: RecordPointer) -> ListenerPointer? {
    var taken: ListenerPointer?
    var place = bucket(of: promise)
    while let listener = place.pointee {
        if listener.pointee.promise == promise {
            place.pointee = listener.pointee.next
            listener.pointee.next = taken
            listener.pointee.promise = nil
            taken = listener
        } else {
            place = nextPlace(of: listener)
        }
    }
    return taken
}

/// `next` is the first field.
private func nextPlace(of listener: ListenerPointer) -> UnsafeMutablePointer<ListenerPointer?> {
    UnsafeMutableRawPointer(listener).assumingMemoryBound(to: ListenerPointer?.self)
}
