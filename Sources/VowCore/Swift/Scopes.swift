// Scopes, for the Swift face.

import CVow

/// As vow_scope_add, but a promise (consumed) that comes after the end is left alone.
package func addInTime(_ promise: OpaquePointer, to scope: OpaquePointer) -> Bool {
    let thread = currentThread()
    let result = add(RecordPointer(promise), to: ScopePointer(scope), cancelsLate: false, thread)
    leave(thread)
    if case .added = result { return true }
    return false
}

/// What `body` makes is made under the scope (borrowed).
package func makingUnder<Result, Failure: Error>(
    _ scope: OpaquePointer, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let thread = currentThread()
    let outer = exchangeScope(ScopePointer(scope).promise, thread)
    defer { exchangeScope(outer, thread) }
    return try body()
}
