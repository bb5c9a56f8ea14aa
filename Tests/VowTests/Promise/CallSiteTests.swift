// Tests that calls which users write compile as they stand: each closure in the shape that comes to mind first.

import Dispatch
import Vow
import XCTest

private struct User: Sendable, Equatable { let name: String }
private enum LoginError: PromiseFailure, Equatable {
    case refused, offline, lost

    init(promiseError _: any Error) { self = .lost }
}

private func logIn(_ name: String) -> Promise<User, any Error> { .value(User(name: name)) }
private func length(of text: String) -> Int { text.count }
private func risky(_ number: Int) throws -> Int {
    if number < 0 { throw LoginError.refused }
    return number
}
private func typed(_ number: Int) throws(LoginError) -> Int {
    if number < 0 { throw .refused }
    return number
}
private func optional(_ number: Int) -> Int? { number > 0 ? number : nil }

final class CallSiteTests: XCTestCase {
    private let three = Promise<Int, any Error>.value(3)

    func testOneLineClosures() throws {
        XCTAssertEqual(try three.map { $0 + 1 }.wait(), 4)
        XCTAssertEqual(
            try three.map { number -> String in "\(number)" }.map { $0 + "!" }.wait(), "3!")
        XCTAssertEqual(try three.then { Promise.value($0 + 1) }.wait(), 4)
        XCTAssertEqual(try three.then { logIn("u\($0)") }.map { $0.name }.wait(), "u3")
        XCTAssertEqual(try three.then { .value($0 * 2) }.map { (x: Int) in x }.wait(), 6)
        XCTAssertEqual(try three.map { try risky($0) }.wait(), 3)
        XCTAssertEqual(try three.recover { _ in 0 }.wait(), 3)
        XCTAssertEqual(try three.recover { _ in .value(0) }.wait(), 3)
        XCTAssertEqual(try three.recover { throw $0 }.wait(), 3)
        three.catch { print($0) }
        three.finally { print("done") }
        three.done { print($0) }.catch { print($0) }.finally { print("x") }
    }

    func testMethodReferences() throws {
        XCTAssertEqual(try three.map(String.init(describing:)).map(length).wait(), 1)
        XCTAssertEqual(try three.map(risky).wait(), 3)
        XCTAssertEqual(try three.map(optional).wait(), 3)
        XCTAssertEqual(try Promise<String, any Error>.value("n").then(logIn).wait().name, "n")
        XCTAssertEqual(try three.map(on: .pool, risky).wait(), 3)
    }

    func testManyLines() throws {
        let five = three.map { number in
            let more = number + 1
            if more > 100 { throw LoginError.offline }
            return more + 1
        }
        XCTAssertEqual(try five.wait(), 5)
        let user = three.then { number in
            let name = "u\(number)"
            return logIn(name)
        }
        XCTAssertEqual(try user.wait().name, "u3")
        let nothing = three.map { number in
            let more = number + 1
            _ = more
        }
        XCTAssertNoThrow(try nothing.wait() as Void)
        let branch = three.then { number -> Promise<User, any Error> in
            if number > 2 { return logIn("big") }
            return .failure(LoginError.refused)
        }
        XCTAssertEqual(try branch.wait().name, "big")
    }

    func testVoid() throws {
        let done: Promise<Void, any Error> = three.map { _ in }
        try done.wait()
        try done.map { 5 }.done { XCTAssertEqual($0, 5) }.wait()
        try done.then { logIn("x") }.asVoid().wait()
        let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
        resolver.fulfill()
        try promise.wait()
    }

    func testOptionals() throws {
        XCTAssertEqual(try three.map { $0 > 2 ? $0 : nil }.wait(), 3)
        XCTAssertEqual(try three.map { Int?($0) }.compactMap { $0 }.wait(), 3)
        XCTAssertEqual(try three.compactMap(optional).wait(), 3)
    }

    func testTypedFailures() throws {
        let typedThree = Promise<Int, LoginError>.value(3)
        XCTAssertEqual(try typedThree.map(typed).wait(), 3)
        XCTAssertEqual(
            try typedThree.map { number throws(LoginError) in try typed(number) }.wait(), 3)
        let sure: Promise<Int, Never> = typedThree.recover { _ in 0 }
        XCTAssertEqual(try sure.wait(), 3)
        XCTAssertEqual(try sure.map { $0 + 1 }.wait(), 4)
        XCTAssertEqual(try Guarantee.value(3).map { $0 + 1 }.wait(), 4)
        typedThree.catch { (error: LoginError) in print(error) }
    }

    func testMaking() throws {
        XCTAssertEqual(try Promise(on: .pool) { try risky(1) }.wait(), 1)
        XCTAssertEqual(try Promise<Int, any Error>(on: .pool) { 2 }.wait(), 2)
        XCTAssertEqual(try Promise(on: .pool) { logIn("p") }.wait().name, "p")
        XCTAssertEqual(try firstly { logIn("f") }.map { $0.name }.wait(), "f")
        XCTAssertEqual(try firstly { .value(3) }.map { $0 + 1 }.wait(), 4)
        let made = Promise<Int, any Error> { resolver in
            DispatchQueue.global().async { resolver.fulfill(7) }
        }
        XCTAssertEqual(try made.wait(), 7)
        let work = Promise<Void, Never>(on: .pool) {
            let a = 1
            print(a)
        }
        try work.wait()
    }

    func testMakingWithoutATypeInView() throws {
        let user = Promise(on: .pool) { logIn("p") }
        XCTAssertEqual(try user.wait().name, "p")
        let task = Promise { try await Task.sleep(for: .zero) }
        try task.wait() as Void
        let followed = Promise { try await logIn("task").value }
        XCTAssertEqual(try followed.wait().name, "task")
        let queued = DispatchQueue.global().promise { logIn("queue") }
        XCTAssertEqual(try queued.wait().name, "queue")
        let five = Promise { 5 }
        XCTAssertEqual(try five.wait(), 5)
        let long = Promise {
            await Task.yield()
            let name = "long"
            print(name)
        }
        try long.wait() as Void
    }

    func testAwaiting() async throws {
        let four = try await three.map { $0 + 1 }.value
        XCTAssertEqual(four, 4)
        let sure = await Guarantee.value(3).map { $0 + 1 }.value
        XCTAssertEqual(sure, 4)
        async let name = logIn("async").map { $0.name }.value
        let both = try await (name, three.cancellingValue)
        XCTAssertEqual(both.0, "async")
        if case .failure(let error) = await three.settled { throw error }
        for await (index, result) in [three, three].completions {
            XCTAssertLessThan(index, 2)
            XCTAssertEqual(try result.get(), 3)
        }
    }
}
