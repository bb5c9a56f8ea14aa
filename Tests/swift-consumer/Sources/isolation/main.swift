// Handlers of every shape that a closure may have, on the main actor, on an actor and isolated to nothing: built for release,
// where the library calls them as closures of another type, and the optimiser sees both. Prints a line for each place.

import Dispatch
import Vow

private typealias Numbers = Promise<Int, any Error>

private struct Refused: Error {}

/// Not Sendable: whoever reads and writes it is where it belongs.
private final class Notes {
    var shapes: [String] = []
}

@MainActor private final class Screen {
    private let notes = Notes()

    private func note(_ shape: String) {
        MainActor.preconditionIsolated()
        notes.shapes.append(shape)
    }

    func follow(_ number: Numbers, _ failed: Numbers) async throws -> [String] {
        let sum = try await number.map {
            self.note("map"); return $0 + 1
        }.value
        precondition(sum == 2, "map")
        try await number.done { _ in self.note("done") }.value
        _ = try await number.then {
            self.note("then"); return Numbers.value($0)
        }.value
        _ = try await number.finally { self.note("finally") }.value
        await failed.catch { _ in self.note("catch") }.value
        return notes.shapes
    }
}

private actor Ledger {
    private let notes = Notes()

    private func note(_ shape: String) {
        preconditionIsolated()
        notes.shapes.append(shape)
    }

    func keep(_ number: Numbers, _ failed: Numbers) async throws -> [String] {
        let one = try await number.get { _ in self.note("get") }
            .tap { _ in self.note("tap") }
            .onSuccess { _ in self.note("onSuccess") }.value
        let recovered = try await failed.recover { _ in
            self.note("recover")
            return one + 1
        }.value
        precondition(recovered == 2, "recover")
        return notes.shapes.sorted()
    }
}

/// One of each type of closure that the library knows. Each sees that it runs on `here`, and what it says is looked at.
private func follow(
    _ number: Numbers, _ failed: Numbers, on here: isolated (any Actor)?
) async throws -> Int {
    var shapes = 0
    func expect(_ isSo: Bool, _ shape: String) {
        precondition(isSo, shape)
        shapes += 1
    }
    let two = try await number.map { (n: Int) throws -> Int in
        here?.preconditionIsolated()
        if n > 1 { throw Refused() }
        return n + 1
    }.value
    expect(two == 2, "of a value, throws")
    let three = try await number.map { (n: Int) -> Int in
        here?.preconditionIsolated()
        return n + 2
    }.value
    expect(three == 3, "of a value")
    let noted = Noted()
    try await number.done { (n: Int) throws -> Void in
        here?.preconditionIsolated()
        noted.value = n
    }.value
    expect(noted.value == 1, "comes to nothing, throws")
    _ = try await number.tap { _ in
        here?.preconditionIsolated()
        noted.value += 1
    }.value
    expect(noted.value == 2, "of a result, comes to nothing")
    let four = try await number.then { (n: Int) throws -> Numbers in
        here?.preconditionIsolated()
        return .value(n + 3)
    }.value
    expect(four == 4, "makes a promise, throws")
    _ = try await number.finally { () throws -> Void in
        here?.preconditionIsolated()
        noted.value += 1
    }.value
    expect(noted.value == 3, "of nothing, throws")
    _ = try await number.finally { () throws -> Promise<Void, any Error> in
        here?.preconditionIsolated()
        noted.value += 1
        return .value(())
    }.value
    expect(noted.value == 4, "of nothing, makes a promise, throws")
    let sure = await Guarantee<Int>.value(1).finally { () -> Promise<Void, Never> in
        here?.preconditionIsolated()
        noted.value += 1
        return .value(())
    }.value
    expect(sure == 1 && noted.value == 5, "of nothing, makes a promise")
    let recovered = try await failed.recover { (_: any Error) -> Int in
        here?.preconditionIsolated()
        return 5
    }.value
    expect(recovered == 5, "of a failure")
    let promised = await failed.recover { (_: any Error) -> Promise<Int, Never> in
        here?.preconditionIsolated()
        return .value(6)
    }.value
    expect(promised == 6, "of a failure, makes a promise")
    let caught = try await failed.recover(from: Refused.self) { (_: Refused) throws -> Int in
        here?.preconditionIsolated()
        return 7
    }.value
    expect(caught == 7, "of a failure of a type, throws")
    let joined = try await failed.recover(from: Refused.self) { (_: Refused) throws -> Numbers in
        here?.preconditionIsolated()
        return .value(8)
    }.value
    expect(joined == 8, "of a failure of a type, makes a promise, throws")
    let fitting = try await number.filter { (n: Int) throws -> Bool in
        here?.preconditionIsolated()
        return n == 1
    }.value
    expect(fitting == 1, "decides")
    await failed.catch(policy: .allErrors) { (_: any Error) -> Void in
        here?.preconditionIsolated()
        noted.value += 1
    }.value
    expect(noted.value == 6, "of any error")
    let whole = try await number.transform { (result: Result<Int, any Error>) throws -> Int in
        here?.preconditionIsolated()
        return try result.get() + 8
    }.value
    expect(whole == 9, "of a result, throws")
    return shapes
}

/// Written by one handler at a time, and read when that has ended.
private final class Noted: @unchecked Sendable {
    var value = 0
}

private func show(_ place: String, _ written: [String], _ shapes: Int) {
    let before = written.isEmpty ? "" : written.joined(separator: ", ") + "; "
    print("\(place): \(before)\(shapes) shapes")
}

// Settled by another thread: a handler that is not brought where it belongs would run there.
private func pair() -> (Numbers, Numbers) {
    (
        Promise(on: .pool) { 1 },
        Promise(on: .pool) { () throws -> Int in throw Refused() }
    )
}

private let (number, failed) = pair()
private let ledger = Ledger()
show(
    "the main actor", try await Screen().follow(number, failed),
    try await follow(number, failed, on: MainActor.shared))
show(
    "an actor", try await ledger.keep(number, failed),
    try await follow(number, failed, on: ledger))
show("nowhere", [], try await follow(number, failed, on: nil))
