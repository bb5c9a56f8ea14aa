// Promises in the memory of Swift objects.

import CVow

/// Gives memory for a record, aligned to 16. The last one has it taken back.
package typealias PromiseHouse = @Sendable (_ size: Int) -> UnsafeMutableRawPointer

/// Says how memory is taken back. Before the first promise in a house is made.
package func setPromiseHouses(takeBack: @escaping (UnsafeMutableRawPointer) -> Void) {
    setHouses(takeBack: takeBack)
}

/// Whether a promise stands in a house's memory. One that the library had already does not.
package func isHoused(_ promise: OpaquePointer) -> Bool {
    RecordPointer(promise).pointee.flags.contains(RecordFlag.isHoused)
}

/// A pending promise (owned), and with it a resolver (owned), which is the same record.
package func makePending(in house: @escaping PromiseHouse) -> OpaquePointer {
    let thread = currentThread()
    return OpaquePointer(
        makePromise(.open, producers: 1, in: house, thread) ?? promiseWithoutMemory)
}

/// A promise (owned) of a value (consumed).
package func makePromise(of value: vow_value, in house: @escaping PromiseHouse) -> OpaquePointer {
    let thread = currentThread()
    let promise = makePromise(of: value, in: house, thread)
    leave(thread)
    return OpaquePointer(promise)
}
