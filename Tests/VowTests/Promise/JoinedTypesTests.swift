// Tests which promise each method makes of a closure's promise: never one of promises, whatever the failures, and of the
// closest failure that stands for both.

import Dispatch
import Vow
import XCTest

private enum MyErr: Error { case no }
private func save() -> Promise<Int, MyErr> { .value(1) }
private func load() -> Promise<Int, any Error> { .value(1) }
private func sure() -> Guarantee<Int> { .value(1) }
private func f(_ number: Int) -> Promise<Int, MyErr> { .value(number) }
private func may() throws {}
private func load2(_: String) -> Promise<Int, any Error> { load() }

private func expect<Success, Failure, Expected>(
    _ promise: Promise<Success, Failure>, _: Expected.Type, line: UInt = #line
) {
    XCTAssertTrue(
        Promise<Success, Failure>.self == Expected.self, "\(type(of: promise))", line: line)
}

final class JoinedTypesTests: VowTest {
    func testThen() {
        let a2 = load().then { _ in save() }
        expect(a2, Promise<Int, any Error>.self)
        let b = load().then { _ in sure() }
        expect(b, Promise<Int, any Error>.self)
        let c = save().then { _ in sure() }
        expect(c, Promise<Int, MyErr>.self)
        let d = save().then { _ in load() }
        expect(d, Promise<Int, any Error>.self)
        let e = sure().then { _ in save() }
        expect(e, Promise<Int, MyErr>.self)
        let f = sure().then { _ in load() }
        expect(f, Promise<Int, any Error>.self)
        let g = sure().then { _ in sure() }
        expect(g, Promise<Int, Never>.self)
        let h = save().then { _ in save() }
        expect(h, Promise<Int, MyErr>.self)
        let i = load().then { x in
            let y = x + 1; _ = y; return save()
        }
        expect(i, Promise<Int, any Error>.self)
        let j = sure().then { x in
            let y = x + 1; _ = y; return save()
        }
        expect(j, Promise<Int, MyErr>.self)
        let k = sure().then { $0 + 1 }
        expect(k, Promise<Int, Never>.self)
        let l = sure().then { _ in
            try Int("1").map { _ in throw MyErr.no }; return load()
        }
        expect(l, Promise<Int, any Error>.self)
        let m = sure().flatMap { _ in save() }
        expect(m, Promise<Int, MyErr>.self)
        let n = load().flatMap { _ in save() }
        expect(n, Promise<Int, any Error>.self)
    }

    func testFinally() {
        let a = load().finally { sure() }
        expect(a, Promise<Int, any Error>.self)
        let b = load().finally { save() }
        expect(b, Promise<Int, any Error>.self)
        let c = save().finally { sure() }
        expect(c, Promise<Int, MyErr>.self)
        let d = save().finally { load() }
        expect(d, Promise<Int, any Error>.self)
        let e = sure().finally { save() }
        expect(e, Promise<Int, MyErr>.self)
        let e2 = sure().finally { load() }
        expect(e2, Promise<Int, any Error>.self)
        let f = sure().finally { XCTAssertTrue(true) }
        expect(f, Promise<Int, Never>.self)
        let g = save().finally { XCTAssertTrue(true) }
        expect(g, Promise<Int, MyErr>.self)
        let h = load().finally { try Task.checkCancellation() }
        expect(h, Promise<Int, any Error>.self)
        let i = load().finally { return sure() }
        expect(i, Promise<Int, any Error>.self)
    }

    func testFirstly() {
        let a = firstly { f(1) }
        expect(a, Promise<Int, MyErr>.self)
        let b = firstly { load() }
        expect(b, Promise<Int, any Error>.self)
        let c = firstly { sure() }
        expect(c, Promise<Int, Never>.self)
        let d = firstly {
            try may(); return f(1)
        }
        expect(d, Promise<Int, any Error>.self)
        let e = firstly {
            try may(); return load()
        }
        expect(e, Promise<Int, any Error>.self)
        let g = firstly { 3 }
        expect(g, Promise<Int, Never>.self)
        let h = firstly {
            try may(); return 3
        }
        expect(h, Promise<Int, any Error>.self)
        let i = firstly { () throws(MyErr) in
            if true { throw .no }; return f(1)
        }
        expect(i, Promise<Int, MyErr>.self)
    }

    func testAttempt() {
        let a = Promise.attempt { f(1) }
        expect(a, Promise<Int, MyErr>.self)
        let b = Promise.attempt { load() }
        expect(b, Promise<Int, any Error>.self)
        let c = Promise.attempt { sure() }
        expect(c, Promise<Int, Never>.self)
        let d = Promise.attempt {
            try may(); return f(1)
        }
        expect(d, Promise<Int, any Error>.self)
        let e = Promise.attempt {
            try may(); return load()
        }
        expect(e, Promise<Int, any Error>.self)
        let g = Promise.attempt { 3 }
        expect(g, Promise<Int, Never>.self)
        let h = Promise.attempt {
            try may(); return 3
        }
        expect(h, Promise<Int, any Error>.self)
    }

    func testRetry() {
        let a = Promise.retry { f($0) }
        expect(a, Promise<Int, MyErr>.self)
        let b = Promise.retry { _ in load() }
        expect(b, Promise<Int, any Error>.self)
        let d = Promise.retry { _ in
            try may(); return f(1)
        }
        expect(d, Promise<Int, any Error>.self)
        let e = Promise.retry { _ in
            try may(); return load()
        }
        expect(e, Promise<Int, any Error>.self)
        let h = Promise.retry { _ in
            try may(); return 3
        }
        expect(h, Promise<Int, any Error>.self)
        let i = Promise.retry { x in x }
        expect(i, Promise<Int, Never>.self)
    }

    func testMapOfItems() {
        let a = Promise.map([1], concurrency: 2) { f($0) }
        expect(a, Promise<[Int], MyErr>.self)
        let b = Promise.map([1]) { _ in load() }
        expect(b, Promise<[Int], any Error>.self)
        let c = Promise.map([1]) { _ in sure() }
        expect(c, Promise<[Int], Never>.self)
        let d = Promise.map([1]) { _ in
            try may(); return f(1)
        }
        expect(d, Promise<[Int], any Error>.self)
        let e = Promise.map([1]) { _ in
            try may(); return load()
        }
        expect(e, Promise<[Int], any Error>.self)
        let h = Promise.map([1]) { _ in
            try may(); return 3
        }
        expect(h, Promise<[Int], any Error>.self)
        let i = Promise.map([1]) { x in x }
        expect(i, Promise<[Int], Never>.self)
        let j = Promise.map(["d"], load2)
        expect(j, Promise<[Int], any Error>.self)
    }

    func testWorkOnAnExecutor() {
        let a = Promise(on: .pool) { f(1) }
        expect(a, Promise<Int, MyErr>.self)
        let b = Promise(on: .pool) { load() }
        expect(b, Promise<Int, any Error>.self)
        let c = Promise(on: .pool) { sure() }
        expect(c, Promise<Int, Never>.self)
        let d = Promise(on: .pool) {
            try may(); return f(1)
        }
        expect(d, Promise<Int, any Error>.self)
        let e = Promise(on: .pool) {
            try may(); return load()
        }
        expect(e, Promise<Int, any Error>.self)
        let h = Promise(on: .pool) {
            try may(); return 3
        }
        expect(h, Promise<Int, any Error>.self)
        let i = Promise(on: .pool) { 3 }
        expect(i, Promise<Int, Never>.self)
    }

    func testWorkOnAQueue() {
        let q = DispatchQueue.global()
        let a = q.promise { f(1) }
        expect(a, Promise<Int, MyErr>.self)
        let b = q.promise { load() }
        expect(b, Promise<Int, any Error>.self)
        let c = q.promise { sure() }
        expect(c, Promise<Int, Never>.self)
        let d = q.promise {
            try may(); return f(1)
        }
        expect(d, Promise<Int, any Error>.self)
        let e = q.promise {
            try may(); return load()
        }
        expect(e, Promise<Int, any Error>.self)
        let h = q.promise {
            try may(); return 3
        }
        expect(h, Promise<Int, any Error>.self)
        let i = q.promise { 3 }
        expect(i, Promise<Int, Never>.self)
    }

    func testAllAndItsLinks() {
        let a = Promise.all([f(1), f(2)]).map { $0.count }
        expect(a, Promise<Int, MyErr>.self)
        let b = Promise.all([load()]).map { $0.count }
        expect(b, Promise<Int, any Error>.self)
    }

    func testTransformAndRecover() {
        let a = load().transform { _ in save() }
        expect(a, Promise<Int, MyErr>.self)
        let b = load().transform { _ in sure() }
        expect(b, Promise<Int, Never>.self)
        let c = load().transform { _ in load() }
        expect(c, Promise<Int, any Error>.self)
        let d = load().transform { r in
            try may(); return save()
        }
        expect(d, Promise<Int, any Error>.self)
        let d2 = save().transform { r in
            try may(); return load()
        }
        expect(d2, Promise<Int, any Error>.self)
        let e = load().transform { _ in 1 }
        expect(e, Promise<Int, any Error>.self)
        let f = load().transform { try $0.get() + 1 }
        expect(f, Promise<Int, any Error>.self)
        let g = load().transform { r in r }
        expect(g, Promise<Int, any Error>.self)
        let h = load().recover { _ in save() }
        expect(h, Promise<Int, MyErr>.self)
        let i = load().recover { _ in sure() }
        expect(i, Promise<Int, Never>.self)
        let j = load().recover { _ in load() }
        expect(j, Promise<Int, any Error>.self)
        let k = load().recover { _ in
            try may(); return save()
        }
        expect(k, Promise<Int, any Error>.self)
        let l = load().recover { _ in 0 }
        expect(l, Promise<Int, any Error>.self)
        let m = load().recover { _ in .value(0) }
        expect(m, Promise<Int, any Error>.self)
        let n = load().recover { throw $0 }
        expect(n, Promise<Int, any Error>.self)
        let o = save().recover { _ in load() }
        expect(o, Promise<Int, any Error>.self)
        let p = load().recover(from: MyErr.self) { _ in sure() }
        expect(p, Promise<Int, any Error>.self)
        let q = load().recover(from: MyErr.self) { _ in throw MyErr.no }
        expect(q, Promise<Int, any Error>.self)
    }

    func testUsingAndThenMap() {
        let a = load().using { _ in
            sure()
        } release: { _ in
        }
        expect(a, Promise<Int, any Error>.self)
        let b = load().using { _ in
            load()
        } release: { _ in
        }
        expect(b, Promise<Int, any Error>.self)
        let c = load().using { _ in
            load()
        } release: { _ in
            sure()
        }
        expect(c, Promise<Int, any Error>.self)
        let d = load().using { _ in
            1
        } release: { _ in
        }
        expect(d, Promise<Int, any Error>.self)
        let e = load().map { [$0] }.thenMap { _ in sure() }
        expect(e, Promise<[Int], any Error>.self)
        let f = load().map { [$0] }.thenMap { _ in load() }
        expect(f, Promise<[Int], any Error>.self)
    }

    func testTasks() {
        let a = Promise {
            await Task.yield(); return save()
        }
        expect(a, Promise<Int, MyErr>.self)
        let b = Promise {
            await Task.yield(); return load()
        }
        expect(b, Promise<Int, any Error>.self)
        let c = Promise {
            try await Task.sleep(for: .zero); return save()
        }
        expect(c, Promise<Int, any Error>.self)
        let d = Promise {
            try await Task.sleep(for: .zero); return load()
        }
        expect(d, Promise<Int, any Error>.self)
        let e = Promise {
            try await Task.sleep(for: .zero); return 3
        }
        expect(e, Promise<Int, any Error>.self)
        let f = Promise { load() }
        expect(f, Promise<Int, any Error>.self)
        let g = Promise { load2("x") }
        expect(g, Promise<Int, any Error>.self)
        let h = Promise { 5 }
        expect(h, Promise<Int, Never>.self)
    }
}
