// The object that counts a promise in Swift's hands, and, for promises that Swift makes, houses its record: one
// piece of memory for both.
//
// Its strong count is the copies in Swift, which have one reference to the record together. The record has an unowned
// reference to the object in turn: that keeps the memory, and nothing but the memory, until the record is no more.

public import CVow
import VowCore

/// Stands before the record: 32 bytes together with the object's own two words.
@usableFromInline
struct PromiseHandleHeader {
    /// Nil: the record is being made, and nobody else knows it. `given`: the reference is somebody else's now.
    fileprivate var promise: OpaquePointer?
    /// Room for an `UnownedHandle`, while a record is in the house.
    fileprivate var owner: UInt = 0
}

private struct UnownedHandle {
    unowned let handle: PromiseHandle
}

/// May be used from any thread, although its base says that it may not: what it points to may (see vow.h), and the
/// pointer is written before any other thread knows the object.
@usableFromInline
final class PromiseHandle: ManagedBuffer<PromiseHandleHeader, UInt64> {
    deinit {
        let promise = promise
        if promise != given { vow_promise_release(promise) }
    }

    /// Borrowed.
    @usableFromInline
    var promise: OpaquePointer {
        // Written before anybody else knows the object, so that there is no access to guard.
        withUnsafeMutablePointerToHeader { $0.pointee.promise.unsafelyUnwrapped }
    }

    /// The reference to the promise, owned by the caller. It is handed on without being counted where this was the last copy,
    /// as of a promise that is only made for the next link.
    static func promise(of handle: consuming PromiseHandle) -> OpaquePointer {
        let promise = handle.promise
        if isKnownUniquelyReferenced(&handle) {
            handle.withUnsafeMutablePointerToHeader { $0.pointee.promise = given }
        } else {
            _ = vow_promise_retain(promise)
        }
        return promise
    }

    /// Takes a reference (consumed) over.
    @usableFromInline
    static func taking(_ promise: OpaquePointer) -> PromiseHandle {
        unsafeDowncast(
            create(minimumCapacity: 0) { _ in PromiseHandleHeader(promise: promise) },
            to: PromiseHandle.self)
    }

    /// Takes a reference (consumed) over to what a function of the core has made, in `house` or elsewhere.
    @usableFromInline
    static func takingMade(_ promise: OpaquePointer) -> PromiseHandle {
        guard isHoused(promise) else { return taking(promise) }
        let record = UnsafeMutableRawPointer(promise)
        let header = (record - houseOffset + headerOffset)
            .assumingMemoryBound(to: PromiseHandleHeader.self)
        // The core may have had it already.
        if header.pointee.promise != nil { return taking(promise) }
        header.pointee.promise = promise
        return Unmanaged<PromiseHandle>.fromOpaque(record - houseOffset).takeRetainedValue()
    }

    /// A pending promise, of which the core gives a resolver, too, which is the same record.
    @usableFromInline
    static func pending() -> PromiseHandle { takingMade(makePending(in: house)) }

    /// A promise of a value or error (consumed).
    @usableFromInline
    static func settled(_ value: vow_value) -> PromiseHandle {
        takingMade(makePromise(of: value, in: house))
    }

    /// For the core: memory for a record, in an object of its own, whose strong reference `takingMade` takes.
    static var house: PromiseHouse { enter }

    fileprivate static let isOpen: Bool = {
        setPromiseHouses(takeBack: leave)
        return true
    }()
}

private var given: OpaquePointer? { OpaquePointer(bitPattern: 1) }

private let headerOffset = 16
private let houseOffset = headerOffset + MemoryLayout<PromiseHandleHeader>.size

private func enter(_ size: Int) -> UnsafeMutableRawPointer {
    _ = PromiseHandle.isOpen
    let handle = unsafeDowncast(
        PromiseHandle.create(minimumCapacity: (size + 7) / 8) { _ in PromiseHandleHeader() },
        to: PromiseHandle.self)
    let record = handle.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    owner(of: record).initialize(to: UnownedHandle(handle: handle))
    let object = Unmanaged.passRetained(handle).toOpaque()
    precondition(
        record == object + houseOffset && UInt(bitPattern: record) & 15 == 0,
        "an object is not laid out as its house needs it")
    return record
}

/// The record is no more. Perhaps the object's last copy is just going: then the memory goes with that.
private func leave(_ record: UnsafeMutableRawPointer) { owner(of: record).deinitialize(count: 1) }

private func owner(of record: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UnownedHandle> {
    (record - MemoryLayout<UnownedHandle>.size).assumingMemoryBound(to: UnownedHandle.self)
}
