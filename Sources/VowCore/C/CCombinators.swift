// Chapter 10 of vow.h: combinators.

import CVow

typealias Members = UnsafePointer<OpaquePointer?>

@_cdecl("vow_all") @implementation
public func vow_all(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    combined(promises, count, "vow_all", combineAll)
}

@_cdecl("vow_all_settled") @implementation
public func vow_all_settled(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int
) -> OpaquePointer! {
    combined(promises, count, "vow_all_settled", combineAllSettled)
}

@_cdecl("vow_any") @implementation
public func vow_any(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    combined(promises, count, "vow_any", combineAny)
}

@_cdecl("vow_some") @implementation
public func vow_some(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int, _ wanted: Int
) -> OpaquePointer! {
    combined(promises, count, "vow_some") {
        // Beyond Int.max: more than there can be.
        combineSome($0, wanted: wanted < 0 ? Int.max : wanted, $1)
    }
}

@_cdecl("vow_race") @implementation
public func vow_race(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    if count == 0 {
        return invalidPromise("vow_race", "there is nothing to wait for", currentThread())
    }
    return combined(promises, count, "vow_race", combineRace)
}

func combined(
    _ promises: Members?, _ count: Int, _ function: StaticString,
    _ body: (UnsafeBufferPointer<OpaquePointer?>, ThreadPointer) -> RecordPointer
) -> OpaquePointer {
    let thread = currentThread()
    guard let promises, count != 0 else {
        if count != 0 { return invalidPromise(function, "promises is NULL", thread) }
        return OpaquePointer(body(UnsafeBufferPointer(start: nil, count: 0), thread))
    }
    // No array is so long.
    if count < 0 || count > mostMembers { return OpaquePointer(promiseWithoutMemory) }
    let members = UnsafeBufferPointer(start: promises, count: count)
    var isAnyMissing = false
    for member in members { if consumedRecord(member, function) == nil { isAnyMissing = true } }
    if isAnyMissing {
        let answer = invalidPromise(function, "a promise is NULL", thread)
        releaseMembers(members, thread)
        leave(thread)
        return answer
    }
    let promise = body(members, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_error_index") @implementation
public func vow_error_index(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_index")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.index ?? -1
}
