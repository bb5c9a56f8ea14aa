// Programs in PromiseKit's words. What differs stands in the guide ComingFromPromiseKit.

import Dispatch
import VowPromiseKit
import VowTestSupport
import XCTest

private struct User: Sendable, Equatable { var name: String }
private enum Refused: Error, Equatable { case wrongPassword, offline }

private func login(_ name: String) -> Promise<User> {
    Promise { seal in
        DispatchQueue.global().async {
            name.isEmpty ? seal.reject(Refused.wrongPassword) : seal.fulfill(User(name: name))
        }
    }
}

private func avatar(of user: User) -> Promise<String> { .value("\(user.name).png") }

final class PromiseKitStyleTests: VowTest {
    func testAChainFromFirstlyToFinally() throws {
        let lines = Journal<String>()
        try firstly {
            login("ali")
        }.then { user in
            avatar(of: user)
        }.done { file in
            lines.write(file)
        }.ensure {
            lines.write("ensured")
        }.catch { error in
            lines.write("\(error)")
        }.finally {
            lines.write("finally")
        }.wait()
        XCTAssertEqual(lines.entries, ["ali.png", "ensured", "finally"])
    }

    func testAnErrorGoesToTheCatch() throws {
        let lines = Journal<String>()
        try firstly {
            login("")
        }.then { user in
            avatar(of: user)
        }.done { file in
            lines.write(file)
        }.ensure {
            lines.write("ensured")
        }.catch { error in
            lines.write("\(error)")
        }.wait()
        XCTAssertEqual(lines.entries, ["ensured", "wrongPassword"])
    }

    func testAThrowInAHandlerRejects() {
        let promise = login("ali").map { user -> Int in
            guard user.name.count > 3 else { throw Refused.offline }
            return user.name.count
        }
        XCTAssertEqual(failure(of: promise) as? Refused, .offline)
    }

    func testWrappedCallbacks() throws {
        func fetch(_ completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
            DispatchQueue.global().async { completion("page", nil) }
        }
        let page = Promise<String> { seal in fetch { seal.resolve($0, $1) } }
        XCTAssertEqual(try page.wait(), "page")
        let failed = Promise<String> { seal in seal.resolve(nil, Refused.offline) }
        XCTAssertEqual(failure(of: failed) as? Refused, .offline)
        let empty = Promise<Void> { seal in seal.resolve(nil) }
        XCTAssertTrue(empty.isFulfilled)
    }

    func testPendingPromisesAndTheirSeal() throws {
        let (promise, seal) = Promise<Int>.pending()
        XCTAssertFalse(promise.isResolved)
        seal.fulfill(3)
        XCTAssertTrue(promise.isFulfilled)
        XCTAssertEqual(try promise.wait(), 3)
        XCTAssertEqual(failure(of: Promise<Int>(error: Refused.offline)) as? Refused, .offline)
    }

    func testGuarantees() throws {
        let guarantee = Guarantee<Int> { seal in DispatchQueue.global().async { seal(4) } }
        let doubled = guarantee.map { $0 * 2 }.get { _ in }.then { Guarantee.value($0 + 1) }
        XCTAssertEqual(try doubled.eraseFailure().wait(), 9)
        let recovered = login("").recover { _ in Guarantee.value(User(name: "nobody")) }
        XCTAssertEqual(try recovered.eraseFailure().wait().name, "nobody")
    }

    func testRecoverMayThrowAgain() throws {
        let recovered = login("").recover { error -> Promise<User> in
            guard case Refused.wrongPassword = error else { throw error }
            return .value(User(name: "guest"))
        }
        XCTAssertEqual(try recovered.wait().name, "guest")
        let other = Promise<User>(error: Refused.offline).recover { error -> Promise<User> in
            guard case Refused.wrongPassword = error else { throw error }
            return .value(User(name: "guest"))
        }
        XCTAssertEqual(failure(of: other) as? Refused, .offline)
    }

    func testCompactMapAndValues() throws {
        XCTAssertEqual(try Promise.value("12").compactMap { Int($0) }.wait(), 12)
        XCTAssertNotNil(failure(of: Promise.value("x").compactMap { Int($0) }))
        let values = Promise.value([3, 1, 2])
        XCTAssertEqual(try values.mapValues { $0 * 2 }.wait(), [6, 2, 4])
        XCTAssertEqual(try values.flatMapValues { [$0, $0] }.wait(), [3, 3, 1, 1, 2, 2])
        XCTAssertEqual(try values.compactMapValues { $0 > 1 ? "\($0)" : nil }.wait(), ["3", "2"])
        XCTAssertEqual(try values.filterValues { $0 > 1 }.wait(), [3, 2])
        XCTAssertEqual(try values.thenMap { Promise.value($0 + 1) }.wait(), [4, 2, 3])
        XCTAssertEqual(
            try values.thenFlatMap { Promise.value([$0, 0]) }.wait(), [3, 0, 1, 0, 2, 0])
        XCTAssertEqual(try values.sortedValues().wait(), [1, 2, 3])
        XCTAssertEqual(try values.firstValue.wait(), 3)
        XCTAssertEqual(try values.lastValue.wait(), 2)
    }

    func testWhenFulfilled() throws {
        XCTAssertEqual(try when(fulfilled: ["a", "b"].map(login)).wait().map(\.name), ["a", "b"])
        let (user, file) = try when(fulfilled: login("a"), avatar(of: User(name: "b"))).wait()
        XCTAssertEqual([user.name, file], ["a", "b.png"])
        try when(fulfilled: Promise.value(()), Promise.value(())).wait()
        let failed = when(fulfilled: ["a", ""].map(login))
        XCTAssertEqual(failure(of: failed) as? Refused, .wrongPassword)
    }

    func testWhenFulfilledOfAnIteratorIsLazy() throws {
        let made = Journal<Int>()
        let (gate, seal) = Promise<Void>.pending()
        let iterator = (0..<10).lazy.map { number -> Promise<Int> in
            made.write(number)
            return gate.map { number }
        }.makeIterator()
        let all = when(fulfilled: iterator, concurrently: 3)
        eventually("three are under way") { made.entries.count == 3 }
        seal.fulfill(())
        XCTAssertEqual(try all.wait(), Array(0..<10))
    }

    func testWhenResolvedNeverFails() throws {
        let results = try when(resolved: ["a", "", "b"].map(login)).eraseFailure().wait()
        XCTAssertEqual(results.map { try? $0.get().name }, ["a", nil, "b"])
    }

    func testRaces() throws {
        let (never, seal) = Promise<Int>.pending()
        XCTAssertEqual(try race(never, .value(1)).wait(), 1)
        XCTAssertEqual(try race(fulfilled: [Promise(error: Refused.offline), .value(2)]).wait(), 2)
        XCTAssertEqual(
            failure(of: race(never, Promise(error: Refused.offline))) as? Refused, .offline)
        withExtendedLifetime(seal) {}
    }

    func testAfter() throws {
        let start = ContinuousClock.now
        try after(seconds: 0.01).eraseFailure().wait()
        XCTAssertGreaterThanOrEqual(ContinuousClock.now - start, .milliseconds(10))
    }

    func testQueues() throws {
        let queue = DispatchQueue(label: "own")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 7)
        let number = queue.async(.promise) { DispatchQueue.getSpecific(key: key) ?? 0 }
        XCTAssertEqual(try number.wait(), 7)
        let there = login("ali").map(on: .queue(queue)) { _ in DispatchQueue.getSpecific(key: key) }
        XCTAssertEqual(try there.wait(), 7)
        XCTAssertNotNil(failure(of: queue.async(.promise) { throw Refused.offline }))
    }

    func testEnsureThenIsWaitedFor() throws {
        let (closed, seal) = Guarantee<Void>.pending()
        let ensured = login("ali").ensureThen { closed }
        XCTAssertTrue(ensured.isPending)
        seal(())
        XCTAssertEqual(try ensured.wait().name, "ali")
    }

    // The rows where words are the same and meanings are not.

    func testACatchHearsOfCancellationUnlessItsPolicySparesIt() throws {
        let told = Journal<String>()
        let cancelled = Promise<Int>(error: PMKError.cancelled)
        try cancelled.catch { _ in told.write("catch") }.wait()
        try cancelled.catch(policy: .allErrorsExceptCancellation) { _ in told.write("spared") }
            .wait()
        XCTAssertEqual(told.entries, ["catch"])
        let recovered = cancelled.recover(policy: .allErrorsExceptCancellation) { _ in 1 }
        XCTAssertTrue(failure(of: recovered) is PMKError)
    }

    func testADroppedSealRejects() {
        let promise = Promise<Int> { _ in }
        guard case PromiseError.broken? = failure(of: promise) else {
            return XCTFail("\(promise)")
        }
    }

    func testHandlersRunOnThePoolUnlessTheyAreToldWhere() throws {
        XCTAssertEqual(try login("ali").map { _ in PromiseExecutor.current }.wait(), .pool)
    }
}
