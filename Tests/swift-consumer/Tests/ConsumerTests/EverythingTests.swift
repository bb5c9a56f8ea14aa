// Uses each part of the library as a program would: chains, combinators, time, tasks, actors, cold work, operators,
// Foundation.

import Dispatch
import Foundation
import Vow
import VowFoundation
import VowOperators
import XCTest

private struct User: Sendable, Equatable {
    let name: String
    let age: Int
}

private enum LoadError: Error, Equatable { case missing(String) }

private func load(_ name: String) -> Promise<User, any Error> {
    Promise(on: .pool) {
        if name.isEmpty { throw LoadError.missing(name) }
        return User(name: name, age: name.count)
    }
}

private actor Register {
    private(set) var names: [String] = []
    func add(_ name: String) { names.append(name) }
}

final class EverythingTests: XCTestCase {
    func testChains() throws {
        let end = load("Ada").map(\.age).then { age in load("Bob").map { $0.age + age } }
            .filter { $0 == 6 }
            .finally { print("through") }
        XCTAssertEqual(try end.wait(), 6)
        let saved = load("").recover(from: LoadError.self) { _ in User(name: "nobody", age: 0) }
        XCTAssertEqual(try saved.wait().name, "nobody")
        load("").done { _ in XCTFail("nobody is there") }.catch { print("failed:", $0) }
    }

    func testCombinators() throws {
        let (user, number, text) = try Promise.all(
            load("Ada"), Promise<Int, any Error>.value(1), Promise<String, any Error>.value("x")
        ).wait()
        XCTAssertEqual("\(user.name)\(number)\(text)", "Ada1x")
        XCTAssertEqual(try Promise.all(["a", "bb"].map(load)).wait().map(\.age), [1, 2])
        XCTAssertEqual(try Promise.all(["first": load("abc")]).wait()["first"]?.age, 3)
        XCTAssertEqual(try Promise.any([load(""), load("dd")]).wait().age, 2)
        XCTAssertEqual(try Promise.allSettled([load(""), load("e")]).wait().count, 2)
        XCTAssertEqual(try (load("f") &&& 2).wait().1, 2)
        XCTAssertEqual(try (load("") ||| load("gg")).wait().age, 2)
    }

    func testTime() throws {
        let loop = try PromiseLoop.virtual()
        let slow = Promise<Void, any Error>.delay(.seconds(3600)).map { 1 }
        XCTAssertEqual(try loop.run(until: slow), 1)
        let late = Promise<Int, any Error> { resolver in
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { resolver.fulfill(1) }
        }.timeout(.milliseconds(1))
        XCTAssertThrowsError(try loop.run(until: late))
    }

    func testTasksAndActors() async throws {
        let age = try await load("Ada").value.age
        XCTAssertEqual(age, 3)
        let task = Promise<Int, any Error> { try await load("Bob").value.age }
        let doubled = try await task.map { $0 * 2 }.value
        XCTAssertEqual(doubled, 6)
        let register = Register()
        let added = load("Eve").map(on: .actor(register)) { user in
            register.assumeIsolated { $0.names.count } + user.age
        }
        let sum = try await added.value
        XCTAssertEqual(sum, 3)
        var seen = 0
        for await (_, result) in Promise.completions(of: [load("a"), load("bb")]) {
            seen += try result.get().age
        }
        XCTAssertEqual(seen, 3)
        await register.add("done")
        let names = await register.names
        XCTAssertEqual(names, ["done"])
    }

    func testColdWork() throws {
        let logIn = Action<String, User> { name in load(name) }
        let greet = Action<User, String> { user in "hello \(user.name)" }
        XCTAssertEqual(try (logIn >- greet)("Ada").wait(), "hello Ada")
        XCTAssertEqual(try Async<Int>.value(20).map { $0 + 1 }.promise().wait(), 21)
    }

    func testCancellation() throws {
        let source = CancellationSource()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { print("stopped") }
        let derived = promise.map(cancelledBy: source.token) { $0 + 1 }
        source.cancel()
        XCTAssertThrowsError(try derived.wait()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertTrue(promise.cancel())
    }

    func testFoundation() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/echo")
        process.arguments = ["hello"]
        XCTAssertEqual(try process.promise().wait().text, "hello\n")
        let name = Notification.Name("consumer")
        let told = NotificationCenter.default.promise(for: name)
        NotificationCenter.default.post(name: name, object: nil)
        try told.asVoid().wait()
        let refused = Fetch.url("http://127.0.0.1:1/")
        XCTAssertThrowsError(try refused.wait())
    }
}
