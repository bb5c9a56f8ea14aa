// Tests G2: handlers of one promise on one executor start in the order of their registration.

import CVow
import XCTest

/// One handler's number, and the journal that it goes into.
private final class Entry {
    let journal: Journal
    let number: Int
    init(_ journal: Journal, _ number: Int) { (self.journal, self.number) = (journal, number) }
}

private func writeEntry(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let entry = context!.object(Entry.self)
    entry.journal.write(entry.number)
    return vow_none()
}

/// Registers a handler that writes its number, on a promise that the caller keeps.
private func register(
    _ number: Int, _ journal: Journal, on promise: OpaquePointer, _ executor: OpaquePointer
) {
    vow_promise_release(
        link(
            vow_promise_retain(promise)!, on: executor, context: owned(Entry(journal, number)),
            destroy: releaseContext, fulfilled: writeEntry))
}

final class OrderTests: CTest {
    private func withSerial(_ body: (OpaquePointer) -> Void) {
        let executor = vow_executor_serial("order")!
        body(executor)
        vow_executor_release(executor)
    }

    func testG2_handlersStartInTheOrderOfRegistration() {
        withSerial { serial in
            for executor in [vow_executor_inline(), serial] {
                let (promise, resolver) = create()
                let journal = Journal()
                for number in 0..<100 { register(number, journal, on: promise, executor) }
                finish(resolver, vow_none())
                for number in 100..<200 { register(number, journal, on: promise, executor) }
                eventually("all run") { journal.entries.count == 200 }
                XCTAssertEqual(journal.entries, Array(0..<200))
                vow_promise_release(promise)
            }
        }
    }
}
