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

    func testG2_handlersRegisteredByHandlersComeLast() {
        final class Fixture {
            let journal = Journal()
            var promise: OpaquePointer!
        }
        for executor in [vow_executor_inline(), vow_executor_serial(nil)!] {
            let fixture = Fixture()
            let (promise, resolver) = create()
            fixture.promise = promise
            let first = link(
                vow_promise_retain(promise)!, on: executor, context: pointer(to: fixture),
                fulfilled: { _, context in
                    let fixture = context!.object(Fixture.self)
                    fixture.journal.write(0)
                    for number in 4..<7 {
                        register(
                            number, fixture.journal, on: fixture.promise, vow_executor_current())
                    }
                    fixture.journal.write(1)
                    return vow_none()
                })
            register(2, fixture.journal, on: promise, executor)
            register(3, fixture.journal, on: promise, executor)
            finish(resolver, vow_none())
            eventually("all run") { fixture.journal.entries.count == 7 }
            XCTAssertEqual(fixture.journal.entries, Array(0..<7))
            _ = outcome(of: first)
            vow_promise_release(promise)
            vow_executor_release(executor)
        }
    }

    func testG2_registeringWhileAnotherThreadSettlesKeepsEachThreadsOrder() {
        withSerial { serial in
            for round in 0..<200 {
                let executor = round % 2 == 0 ? vow_executor_inline() : serial
                let (promise, resolver) = create()
                let journal = Journal()
                onThreads(3) { index in
                    if index == 0 {
                        finish(resolver, vow_none())
                        return
                    }
                    for number in 0..<20 {
                        register(index * 100 + number, journal, on: promise, executor)
                    }
                }
                eventually("all run") { journal.entries.count == 40 }
                for index in 1...2 {
                    XCTAssertEqual(
                        journal.entries.filter { $0 / 100 == index },
                        Array(index * 100..<index * 100 + 20), "round \(round)")
                }
                vow_promise_release(promise)
            }
        }
    }

    func testG2_aChainRunsFromItsBeginningToItsEnd() {
        withSerial { serial in
            for executor in [vow_executor_inline(), vow_executor_pool(), serial] {
                let (promise, resolver) = create()
                let journal = Journal()
                var end = promise
                for number in 0..<100 {
                    end = link(
                        end, on: executor, context: owned(Entry(journal, number)),
                        destroy: releaseContext, fulfilled: writeEntry)
                }
                finish(resolver, vow_none())
                XCTAssertEqual(outcome(of: end), .other(VOW_NONE))
                XCTAssertEqual(journal.entries, Array(0..<100))
            }
        }
    }
}
