// Tests thenables: an object is asked once, and its resolver decides.

import CVow
import XCTest

@testable import VowCore

/// A thenable: what it does when it is asked, and what became of it.
private final class Thenable: @unchecked Sendable {
    var answer = true
    var value: vow_value?
    var keepsResolver = false
    var resolver: RecordPointer?
    var asked = 0
    var destroyed = 0
    var depth: Int32 = 0
}

private let destroyThenable: Destroy = { $0!.object(Thenable.self).destroyed += 1 }

private func ask(_ pointer: UnsafeMutableRawPointer?, _ resolver: OpaquePointer) -> Bool {
    let thenable = pointer!.object(Thenable.self)
    let resolver = RecordPointer(resolver)
    thenable.asked += 1
    thenable.depth = currentThread().pointee.foreignDepth
    if thenable.keepsResolver {
        thenable.resolver = resolver
    } else if let value = thenable.value {
        resolveLast(resolver, value)
    } else {
        resolver.releaseResolver(currentThread())
    }
    return thenable.answer
}

final class SubscribeTests: CoreTest {
    /// Resolves a promise with such an object, and checks that it was asked and freed once.
    private func outcome(
        of thenable: Thenable, file: StaticString = #filePath, line: UInt = #line,
        _ check: (RecordPointer, UnsafePointer<vow_class>) -> Void
    ) {
        withClass("thenable", destroy: destroyThenable, subscribe: ask) { cls in
            let promise = openPromise()
            XCTAssertTrue(resolveLast(promise, makeObject(pointer(to: thenable), cls)!))
            check(promise, cls)
            dropObserved(promise)
            XCTAssertEqual(thenable.asked, 1, file: file, line: line)
            XCTAssertEqual(thenable.destroyed, 1, file: file, line: line)
        }
    }

    func testOnlyAnObjectWithSubscribeIsAThenable() {
        withClass { XCTAssertFalse(check(makeObject(nil, $0)!)) }
        withClass(subscribe: ask) { XCTAssertTrue(check(makeObject(nil, $0)!)) }
        XCTAssertFalse(check(makeString("s", length: 1)!))
        XCTAssertFalse(check(vow_pointer(pointer(to: self))))
        func check(_ value: vow_value) -> Bool {
            defer { drop(value) }
            return value.isThenable
        }
    }

    func testAThenableThatResolvesAtOnceDecides() {
        let thenable = Thenable()
        thenable.value = vow_int(3)
        outcome(of: thenable) { promise, _ in
            XCTAssertEqual(promise.value.as.integer, 3)
            XCTAssertEqual(thenable.depth, 1)
        }
    }

    func testAThenableThatRejectsDecides() {
        let thenable = Thenable()
        thenable.value = failure(3)
        outcome(of: thenable) { promise, _ in XCTAssertEqual(code(of: promise.value), 3) }
    }

    func testAThenableMayDecideLaterFromAnotherThread() {
        let thenable = Thenable()
        thenable.keepsResolver = true
        outcome(of: thenable) { promise, _ in
            XCTAssertEqual(phase(of: promise), .following)
            XCTAssertEqual(thenable.destroyed, 1)
            Worker { resolveLast(thenable.resolver!, vow_int(4)) }.join()
            XCTAssertEqual(promise.value.as.integer, 4)
        }
    }

    func testG9_aThenableThatDropsItsResolverBreaksThePromise() {
        outcome(of: Thenable()) { promise, _ in
            XCTAssertEqual(code(of: promise.value), Int64(VOW_EBROKEN))
        }
    }

    func testAnObjectThatIsNoThenableAfterAllFulfils() {
        let thenable = Thenable()
        thenable.answer = false
        thenable.keepsResolver = true
        outcome(of: thenable) { promise, cls in
            let part = promise.value.box(of: VOW_OBJECT)!.part(ObjectPart.self).pointee
            XCTAssertEqual(part.pointer, pointer(to: thenable))
            XCTAssertEqual(part.cls, cls)
            XCTAssertFalse(resolveLast(thenable.resolver!, vow_int(1)))
            XCTAssertEqual(promise.value.kind, VOW_OBJECT)
        }
    }

    func testG1_anObjectThatResolvesAndThenDeniesHasResolved() {
        let thenable = Thenable()
        thenable.answer = false
        thenable.value = vow_int(5)
        outcome(of: thenable) { promise, _ in XCTAssertEqual(promise.value.as.integer, 5) }
    }

    func testAThenableMayResolveWithAPromise() {
        let inner = openPromise()
        inner.retain()
        let thenable = Thenable()
        thenable.value = asValue(inner)
        outcome(of: thenable) { promise, _ in
            XCTAssertFalse(promise.pointee.state.read().hasValue)
            resolveLast(inner, vow_int(6))
            XCTAssertEqual(promise.value.as.integer, 6)
        }
        drop(inner)
    }

    func testG4_aThenableReturnedFromAHandlerIsAskedAfterIt() {
        final class Fixture {
            let thenable = Thenable()
            var cls: UnsafePointer<vow_class>!
        }
        let fixture = Fixture()
        fixture.thenable.value = vow_int(7)
        withClass(destroy: destroyThenable, subscribe: ask) { cls in
            fixture.cls = cls
            let derived = link(makePromise(of: vow_none(), thread), with: fixture) { _, context in
                let fixture = context!.object(Fixture.self)
                let object = makeObject(pointer(to: fixture.thenable), fixture.cls)!
                let inner = openPromise()
                resolveLast(inner, object)
                XCTAssertEqual(fixture.thenable.asked, 0)
                return asValue(inner)
            }
            XCTAssertEqual(derived.value.as.integer, 7)
            XCTAssertEqual(fixture.thenable.asked, 1)
            XCTAssertEqual(fixture.thenable.depth, 1)
            drop(derived)
        }
        XCTAssertEqual(fixture.thenable.destroyed, 1)
    }

    func testAPromiseOfAThenableFollowsIt() {
        let thenable = Thenable()
        thenable.keepsResolver = true
        withClass(destroy: destroyThenable, subscribe: ask) { cls in
            let promise = makePromise(of: makeObject(pointer(to: thenable), cls)!, thread)
            XCTAssertEqual(thenable.asked, 0)
            leave(thread)
            XCTAssertEqual(thenable.asked, 1)
            resolveLast(thenable.resolver!, vow_int(8))
            XCTAssertEqual(promise.value.as.integer, 8)
            drop(promise)
        }
    }

    func testASubscriptionTakesOneAllocationOf72Bytes() {
        let thenable = Thenable()
        thenable.value = vow_int(1)
        withClass(destroy: destroyThenable, subscribe: ask) { cls in
            let object = makeObject(pointer(to: thenable), cls)!
            let promise = openPromise()
            let cost = Cost.of { resolveLast(promise, object) }
            XCTAssertEqual(cost.taken, 72)
            XCTAssertEqual(cost.made, 1)
            XCTAssertEqual(cost.promisesFreed, 1)
            drop(promise)
        }
    }
}
