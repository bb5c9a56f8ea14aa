// Tests which promise each method makes of a closure's promise: never one of promises, whatever the failures.

import Dispatch
import Vow
import XCTest

private enum MyErr: PromiseFailure {
    case no, lost

    init(promiseError _: any Error) { self = .lost }
}
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
        let aa = load().then { _ in save() }
        expect(aa, Promise<Int, any Error>.self)
        let bb = load().then { _ in sure() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = load().then { _ in load() }
        expect(cc, Promise<Int, any Error>.self)
        let dd = load().then { _ in
            try may()
            return save()
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = sure().then { _ in save() }
        expect(ee, Promise<Int, MyErr>.self)
        let ff = sure().then { _ in load() }
        expect(ff, Promise<Int, any Error>.self)
        let gg = sure().then { _ in sure() }
        expect(gg, Promise<Int, Never>.self)
        let hh = save().then { _ in save() }
        expect(hh, Promise<Int, MyErr>.self)
        let ii = save().then { x in
            let y = x + 1; _ = y; return save()
        }
        expect(ii, Promise<Int, MyErr>.self)
        let jj = sure().map { $0 + 1 }
        expect(jj, Promise<Int, Never>.self)
        let kk = save().map { $0 + 1 }
        expect(kk, Promise<Int, MyErr>.self)
        let ll = load().map { $0 + 1 }
        expect(ll, Promise<Int, any Error>.self)
    }

    func testFinally() {
        let aa = load().finally { sure() }
        expect(aa, Promise<Int, any Error>.self)
        let bb = load().finally { save() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = save().finally { save() }
        expect(cc, Promise<Int, MyErr>.self)
        let dd = sure().finally { save() }
        expect(dd, Promise<Int, MyErr>.self)
        let ee = sure().finally { load() }
        expect(ee, Promise<Int, any Error>.self)
        let ff = sure().finally { XCTAssertTrue(true) }
        expect(ff, Promise<Int, Never>.self)
        let gg = save().finally { XCTAssertTrue(true) }
        expect(gg, Promise<Int, MyErr>.self)
        let hh = load().finally { try Task.checkCancellation() }
        expect(hh, Promise<Int, any Error>.self)
        let ii = load().finally { return sure() }
        expect(ii, Promise<Int, any Error>.self)
    }

    func testFirstly() {
        let aa = firstly { f(1) }
        expect(aa, Promise<Int, MyErr>.self)
        let bb = firstly { load() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = firstly { sure() }
        expect(cc, Promise<Int, Never>.self)
        let dd = firstly {
            try may()
            return f(1)
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = firstly {
            try may()
            return load()
        }
        expect(ee, Promise<Int, any Error>.self)
    }

    func testAttempt() {
        let aa = Promise.attempt { f(1) }
        expect(aa, Promise<Int, any Error>.self)
        let bb = Promise.attempt { load() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = Promise.attempt { sure() }
        expect(cc, Promise<Int, any Error>.self)
        let dd = Promise.attempt {
            try may()
            return f(1)
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = Promise.attempt {
            try may()
            return load()
        }
        expect(ee, Promise<Int, any Error>.self)
        let ff = Promise.attempt { 3 }
        expect(ff, Promise<Int, Never>.self)
        let gg = Promise.attempt {
            try may()
            return 3
        }
        expect(gg, Promise<Int, any Error>.self)
    }

    func testRetry() {
        let aa = Promise.retry { f($0) }
        expect(aa, Promise<Int, any Error>.self)
        let bb = Promise.retry { _ in load() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = Promise.retry { _ in
            try may()
            return f(1)
        }
        expect(cc, Promise<Int, any Error>.self)
        let dd = Promise.retry { _ in
            try may()
            return load()
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = Promise.retry { _ in
            try may()
            return 3
        }
        expect(ee, Promise<Int, any Error>.self)
        let ff = Promise.retry { x in x }
        expect(ff, Promise<Int, Never>.self)
        let gg = Promise<Int, MyErr>.retry { f($0) }
        expect(gg, Promise<Int, MyErr>.self)
    }

    func testMapOfItems() {
        let aa = Promise.map([1], concurrency: 2) { f($0) }
        expect(aa, Promise<[Int], any Error>.self)
        let bb = Promise.map([1]) { _ in load() }
        expect(bb, Promise<[Int], any Error>.self)
        let cc = Promise.map([1]) { _ in sure() }
        expect(cc, Promise<[Int], any Error>.self)
        let dd = Guarantee<[Int]>.map([1]) { _ in sure() }
        expect(dd, Promise<[Int], Never>.self)
        let ee = Promise<[Int], MyErr>.map([1]) { f($0) }
        expect(ee, Promise<[Int], MyErr>.self)
        let ff = Promise.map([1]) { _ in
            try may()
            return f(1)
        }
        expect(ff, Promise<[Int], any Error>.self)
        let gg = Promise.map([1]) { _ in
            try may()
            return load()
        }
        expect(gg, Promise<[Int], any Error>.self)
        let hh = Promise.map([1]) { _ in
            try may()
            return 3
        }
        expect(hh, Promise<[Int], any Error>.self)
        let ii = Promise.map([1]) { x in x }
        expect(ii, Promise<[Int], Never>.self)
        let jj = Promise.map(["d"], load2)
        expect(jj, Promise<[Int], any Error>.self)
    }

    func testWorkOnAnExecutor() {
        let aa = Promise(on: .pool) { f(1) }
        expect(aa, Promise<Int, any Error>.self)
        let bb = Promise(on: .pool) { load() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = Promise(on: .pool) { sure() }
        expect(cc, Promise<Int, any Error>.self)
        let dd = Promise(on: .pool) {
            try may()
            return f(1)
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = Promise(on: .pool) {
            try may()
            return load()
        }
        expect(ee, Promise<Int, any Error>.self)
        let ff = Promise(on: .pool) {
            try may()
            return 3
        }
        expect(ff, Promise<Int, any Error>.self)
        let gg = Promise(on: .pool) { 3 }
        expect(gg, Promise<Int, Never>.self)
    }

    func testWorkOnAQueue() {
        let queue = DispatchQueue.global()
        let aa = queue.promise { f(1) }
        expect(aa, Promise<Int, any Error>.self)
        let bb = queue.promise { load() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = queue.promise { sure() }
        expect(cc, Promise<Int, any Error>.self)
        let dd = queue.promise {
            try may()
            return f(1)
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = queue.promise {
            try may()
            return load()
        }
        expect(ee, Promise<Int, any Error>.self)
        let ff = queue.promise {
            try may()
            return 3
        }
        expect(ff, Promise<Int, any Error>.self)
        let gg = queue.promise { 3 }
        expect(gg, Promise<Int, Never>.self)
    }

    func testAllAndItsLinks() {
        let aa = Promise.all([f(1), f(2)]).map { $0.count }
        expect(aa, Promise<Int, MyErr>.self)
        let bb = Promise.all([load()]).map { $0.count }
        expect(bb, Promise<Int, any Error>.self)
    }

    func testTransformAndRecover() {
        let aa = load().transform { _ in save() }
        expect(aa, Promise<Int, any Error>.self)
        let bb = load().transform { _ in sure() }
        expect(bb, Promise<Int, any Error>.self)
        let cc = load().transform { _ in load() }
        expect(cc, Promise<Int, any Error>.self)
        let dd = load().transform { _ in
            try may()
            return save()
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = save().transform { _ in save() }
        expect(ee, Promise<Int, MyErr>.self)
        let ff = load().transform { _ in 1 }
        expect(ff, Promise<Int, any Error>.self)
        let gg = load().transform { try $0.get() + 1 }
        expect(gg, Promise<Int, any Error>.self)
        let hh = load().recover { _ in save() }
        expect(hh, Promise<Int, MyErr>.self)
        let ii = load().recover { _ in sure() }
        expect(ii, Promise<Int, Never>.self)
        let jj = load().recover { _ in load() }
        expect(jj, Promise<Int, any Error>.self)
        let kk = load().recover { _ in
            try may()
            return save()
        }
        expect(kk, Promise<Int, any Error>.self)
        let ll = load().recover { _ in 0 }
        expect(ll, Promise<Int, any Error>.self)
        let mm = load().recover { _ in .value(0) }
        expect(mm, Promise<Int, any Error>.self)
        let nn = load().recover { throw $0 }
        expect(nn, Promise<Int, any Error>.self)
        let oo = save().recover { _ in save() }
        expect(oo, Promise<Int, MyErr>.self)
        let pp = load().recover(from: MyErr.self) { _ in sure() }
        expect(pp, Promise<Int, any Error>.self)
        let qq = load().recover(from: MyErr.self) { _ in throw MyErr.no }
        expect(qq, Promise<Int, any Error>.self)
    }

    func testUsing() {
        let aa = load().using { _ in
            sure()
        } release: { _ in
        }
        expect(aa, Promise<Int, any Error>.self)
        let bb = load().using { _ in
            load()
        } release: { _ in
        }
        expect(bb, Promise<Int, any Error>.self)
        let cc = load().using { _ in
            load()
        } release: { _ in
            sure()
        }
        expect(cc, Promise<Int, any Error>.self)
        let dd = load().using { _ in
            1
        } release: { _ in
        }
        expect(dd, Promise<Int, any Error>.self)
    }

    func testTasks() {
        let aa = Promise { try await save().value }
        expect(aa, Promise<Int, any Error>.self)
        let bb = Promise { await sure().value }
        expect(bb, Promise<Int, Never>.self)
        let cc = Promise { try await load().value }
        expect(cc, Promise<Int, any Error>.self)
        let dd = Promise {
            try await Task.sleep(for: .zero)
            return 3
        }
        expect(dd, Promise<Int, any Error>.self)
        let ee = Promise { 5 }
        expect(ee, Promise<Int, Never>.self)
    }
}
