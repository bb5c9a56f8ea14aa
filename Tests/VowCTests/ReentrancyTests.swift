// Tests G4 and G5: when handlers do not run, and what foreign code may call.

import CVow
import XCTest

/// What a handler does from inside, and what it saw.
private final class Scene {
    let journal = Journal()
    var promise: OpaquePointer?
    var resolver: OpaquePointer?
    var made: OpaquePointer?
    var isRunning = false
}

final class ReentrancyTests: CTest {
    func testG4_outsideOfHandlersAnInlineHandlerRunsAtTheEndOfTheCall() {
        let journal = Journal()
        let (promise, resolver) = create()
        let end = link(promise, context: pointer(to: journal), fulfilled: note)
        XCTAssertEqual(journal.entries, [])
        finish(resolver, vow_int(1))
        XCTAssertEqual(journal.entries, [1])
        let late = link(end, context: pointer(to: journal), fulfilled: note)
        XCTAssertEqual(journal.entries, [1, 1])
        XCTAssertEqual(outcome(of: late), .integer(1))
    }

    func testG4_aHandlerNeverRunsInsideAnother() {
        let scene = Scene()
        (scene.promise, scene.resolver) = create()
        let nested: vow_handler = { _, context in
            let scene = context!.object(Scene.self)
            XCTAssertFalse(scene.isRunning)
            scene.journal.write(2)
            return vow_none()
        }
        let waiting = link(
            vow_promise_retain(scene.promise)!, context: pointer(to: scene), fulfilled: nested)
        scene.made = waiting
        let outer = link(
            vow_promise_with(vow_none()), context: pointer(to: scene),
            fulfilled: { _, context in
                let scene = context!.object(Scene.self)
                scene.isRunning = true
                finish(scene.resolver!, vow_none())
                XCTAssertEqual(vow_promise_state(scene.promise!), VOW_FULFILLED)
                XCTAssertEqual(vow_promise_state(scene.made!), VOW_PENDING)
                scene.journal.write(1)
                scene.isRunning = false
                return vow_none()
            })
        XCTAssertEqual(scene.journal.entries, [1, 2])
        _ = outcome(of: outer)
        _ = outcome(of: waiting)
        vow_promise_release(scene.promise)
    }

    func testG4_onOtherExecutorsAHandlerNeverRunsInsideTheCall() {
        final class Lock {
            let lock = NSLock()
        }
        let lock = Lock()
        let takeLock: vow_handler = { _, context in
            // Inside the call below this would wait for ever.
            context!.object(Lock.self).lock.withLock {}
            return vow_int(1)
        }
        let serial = vow_executor_serial(nil)!
        for executor in [vow_executor_pool(), serial] {
            let (promise, resolver) = create()
            lock.lock.lock()
            let before = link(
                vow_promise_retain(promise)!, on: executor, context: pointer(to: lock),
                fulfilled: takeLock)
            finish(resolver, vow_none())
            let after = link(promise, on: executor, context: pointer(to: lock), fulfilled: takeLock)
            lock.lock.unlock()
            XCTAssertEqual(outcome(of: before), .integer(1))
            XCTAssertEqual(outcome(of: after), .integer(1))
        }
        vow_executor_release(serial)
    }
}
