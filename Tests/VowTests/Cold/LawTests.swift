// Tests of the laws of functors and monads, for promises, descriptions and actions, over values and failures.

import Vow
import XCTest

/// What a run came to, to be compared.
private enum Outcome: Equatable {
    case value(Int), failure(TestError), other

    init(_ promise: Promise<Int, any Error>) {
        do { self = .value(try promise.wait(timeout: .seconds(60))) } catch let error as TestError {
            self = .failure(error)
        } catch { self = .other }
    }
}

private let inputs: [Result<Int, TestError>] = [
    .success(0), .success(1), .success(-7), .success(Int.max), .failure(.one), .failure(.two),
]

private typealias Function = @Sendable (Int) throws -> Int

/// Total ones, and some that fail for some inputs.
private let functions: [Function] = [
    { $0 }, { $0 &+ 1 }, { $0 &* 3 },
    { number in
        if number < 0 { throw TestError.three }
        return number / 2
    },
]

private func promise(_ input: Result<Int, TestError>) -> Promise<Int, any Error> {
    Promise(input.mapError { $0 as any Error })
}

private func described(_ input: Result<Int, TestError>) -> Async<Int> {
    Async { resolver in resolver.resolve(with: input.mapError { $0 as any Error }) }
}

/// An action that adds its input.
private func action(_ input: Result<Int, TestError>) -> Action<Int, Int> {
    Action { (number: Int) throws -> Int in try input.get() &+ number }
}

/// Functions that make more work, from those that make values: some fail at once, some by their work.
private func promising(_ function: @escaping Function)
    -> @Sendable (Int) throws -> Promise<
        Int, any Error
    >
{
    { number in
        number == 1 ? .value(try function(number)) : Promise(on: .pool) { try function(number) }
    }
}

private func describing(_ function: @escaping Function) -> @Sendable (Int) throws -> Async<Int> {
    { number in
        number == 1 ? .value(try function(number)) : Async(on: .pool) { try function(number) }
    }
}

final class LawTests: VowTest {
    /// Calls `law` with every input and every two functions.
    private func forAll(
        _ law: (Result<Int, TestError>, @escaping Function, @escaping Function) -> Void
    ) {
        for input in inputs {
            for first in functions {
                for second in functions { law(input, first, second) }
            }
        }
    }

    func testMappingWithIdentityChangesNothing() {
        for input in inputs {
            XCTAssertEqual(Outcome(promise(input).map { $0 }), Outcome(promise(input)))
            XCTAssertEqual(Outcome(described(input).map { $0 }.promise()), Outcome(promise(input)))
            XCTAssertEqual(Outcome(action(input).map { $0 }(0)), Outcome(promise(input)))
        }
    }

    func testMappingTwiceIsMappingWithTheComposition() {
        forAll { input, f, g in
            let expected = Outcome(promise(input).map { try g(f($0)) })
            XCTAssertEqual(Outcome(promise(input).map(f).map(g)), expected)
            XCTAssertEqual(Outcome(described(input).map(f).map(g).promise()), expected)
            XCTAssertEqual(Outcome(described(input).map { try g(f($0)) }.promise()), expected)
            XCTAssertEqual(Outcome(action(input).map(f).map(g)(0)), expected)
            XCTAssertEqual(Outcome(action(input).map { try g(f($0)) }(0)), expected)
        }
    }

    func testUnitIsNeutralOnTheLeft() {
        for function in functions {
            for number in [0, 1, -7, Int.max] {
                let expected = Outcome(.attempt { () throws -> Int in try function(number) })
                XCTAssertEqual(
                    Outcome(Promise.value(number).then(promising(function))), expected)
                XCTAssertEqual(
                    Outcome(Async.unit(number).flatMap(describing(function)).promise()), expected)
                let unit = Action<Int, Int> { (number: Int) in number }
                XCTAssertEqual(Outcome(unit.then(Action(promising(function)))(number)), expected)
            }
        }
    }

    func testUnitIsNeutralOnTheRight() {
        let unit = Action<Int, Int> { (number: Int) in number }
        for input in inputs {
            let expected = Outcome(promise(input))
            XCTAssertEqual(Outcome(promise(input).then { .value($0) }), expected)
            XCTAssertEqual(Outcome(described(input).flatMap { .unit($0) }.promise()), expected)
            XCTAssertEqual(Outcome(action(input).then(unit)(0)), expected)
        }
    }

    func testGroupingDoesNotMatter() {
        forAll { input, f, g in
            let (toPromise, toNextPromise) = (promising(f), promising(g))
            let expected = Outcome(promise(input).then(toPromise).then(toNextPromise))
            XCTAssertEqual(
                Outcome(promise(input).then { try toPromise($0).then(toNextPromise) }),
                expected)
            let (toWork, toNextWork) = (describing(f), describing(g))
            XCTAssertEqual(
                Outcome(described(input).flatMap(toWork).flatMap(toNextWork).promise()), expected)
            XCTAssertEqual(
                Outcome(
                    described(input).flatMap { try toWork($0).flatMap(toNextWork) }.promise()),
                expected)
            let (second, third) = (Action<Int, Int>(toPromise), Action<Int, Int>(toNextPromise))
            XCTAssertEqual(Outcome(action(input).then(second).then(third)(0)), expected)
            XCTAssertEqual(Outcome(action(input).then(second.then(third))(0)), expected)
        }
    }

    func testMapIsFlatMapWithUnit() {
        forAll { input, f, _ in
            let expected = Outcome(promise(input).map(f))
            XCTAssertEqual(Outcome(promise(input).then { .value(try f($0)) }), expected)
            XCTAssertEqual(
                Outcome(described(input).flatMap { .unit(try f($0)) }.promise()), expected)
        }
    }
}
