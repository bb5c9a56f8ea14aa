// Tests freeing: everything, once, and without recursion however deep the nesting.

import CVow
import XCTest

@testable import VowCore

private let smallStack = 64 * 1024

/// What a destructor releases in turn, and how deep destructors are on the stack.
private final class Nest {
    let inner: vow_value
    let depths: Depths

    init(_ inner: vow_value, _ depths: Depths) {
        self.inner = inner
        self.depths = depths
    }
}

private final class Depths {
    var now = 0
    var deepest = 0
    var runs = 0
}

private let destroyNest: Destroy = { pointer in
    let nest = Unmanaged<Nest>.fromOpaque(pointer!).takeRetainedValue()
    nest.depths.now += 1
    nest.depths.deepest = max(nest.depths.deepest, nest.depths.now)
    nest.depths.runs += 1
    drop(nest.inner)
    nest.depths.now -= 1
}

final class ReclaimTests: CoreTest {
    func testAContainerFreesWhatItContains() {
        let item = makeString("item", length: 4)!
        let error = makeError(domain: "d", code: 1, message: nil, payload: item.retained())!
        let list = makeList([item.retained(), error, item.retained()], count: 3)!
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 4)
        drop(list)
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 1)
        drop(item)
    }

    func testAPromiseFreesItsValue() {
        let item = makeString("item", length: 4)!
        let promise = makePromise(of: item.retained(), thread)
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 2)
        drop(promise)
        XCTAssertEqual(item.box!.pointee.count.loadAcquire(), 1)
        drop(item)
    }

    func testG6_destructorsThatReleaseMoreRunOneAfterAnother() {
        let depths = Depths()
        withClass(destroy: destroyNest) { cls in
            Worker(stack: smallStack) {
                var value = vow_int(0)
                for _ in 0..<100_000 {
                    let nest = Unmanaged.passRetained(Nest(value, depths)).toOpaque()
                    value = makeObject(nest, cls)!
                }
                drop(value)
            }.join()
        }
        XCTAssertEqual(depths.runs, 100_000)
        XCTAssertEqual(depths.deepest, 1)
    }

    func testADestructorRunsOnceAtTheLastReleaseOnTheReleasingThread() {
        let journal = Journal()
        withClass(destroy: { $0!.object(Journal.self).write(1) }) { cls in
            let object = makeObject(pointer(to: journal), cls)!
            object.retained()
            drop(object)
            XCTAssertEqual(journal.entries, [])
            var releaser = pthread_self()
            Worker {
                releaser = pthread_self()
                drop(object)
            }.join()
            XCTAssertEqual(journal.entries, [1])
            XCTAssertEqual(journal.threads, [releaser])
        }
    }

    func testADestructorOfNothingIsNotNeeded() {
        withClass { drop(makeObject(nil, $0)!) }
    }

    func testG5_aDestructorMayUseThePromiseThatHeldItsObject() {
        final class Fixture {
            var promise: RecordPointer?
            var derived: RecordPointer?
        }
        let fixture = Fixture()
        let destroy: Destroy = { pointer in
            let fixture = pointer!.object(Fixture.self)
            // The root is dying; the branch was made from it.
            fixture.derived = link(makePromise(of: vow_int(6), currentThread())) { input, _ in
                vow_int(input.as.integer * 7)
            }
        }
        withClass(destroy: destroy) { cls in
            let promise = makePromise(of: makeObject(pointer(to: fixture), cls)!, thread)
            drop(promise)
        }
        XCTAssertEqual(fixture.derived?.value.as.integer, 42)
        if let derived = fixture.derived { drop(derived) }
    }

    func testAPendingPromiseThatIsFreedIsCountedAsSuch() {
        let before = Holdings()
        let promise = openPromise()
        XCTAssertEqual(Holdings().pending, before.pending + 1)
        drop(promise)
        promise.releaseResolver(thread)
        XCTAssertEqual(Holdings(), before)
    }
}
