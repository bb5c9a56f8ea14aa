// Tests of asynchronous functions as values.

import Vow
import XCTest

final class ActionTests: VowTest {
    private let double = Action<Int, Int> { (number: Int) in number * 2 }

    func testItIsCalledLikeAFunction() throws {
        let outputs = Journal<Int>()
        XCTAssertEqual(try double(4).wait(), 8)
        try double(5) { outputs.write($0) }.wait()
        eventually("the completion runs") { outputs.entries == [10] }
    }

    func testItIsMadeOfEveryShapeOfFunction() throws {
        let callback = Action<Int, String> { number, completion in completion("\(number)") }
        XCTAssertEqual(try callback(1).wait(), "1")
        let promising = Action<Int, String> { number in Promise(on: .pool) { "\(number)" } }
        XCTAssertEqual(try promising(2).wait(), "2")
        let implicit = Action<Int, String> { number in .value("\(number)") }
        XCTAssertEqual(try implicit(2).wait(), "2")
        let inferred = Action { (number: Int) in Promise<String, any Error>.value("\(number)") }
        XCTAssertEqual(try inferred(2).map { (text: String) in text + "!" }.wait(), "2!")
        let resolving = Action<Int, String>(resolving: { $1.settle("\($0)", nil) })
        XCTAssertEqual(try resolving(3).wait(), "3")
        let throwing = Action<Int, String> { (_: Int) throws in throw TestError.one }
        XCTAssertEqual(failure(of: throwing(4)) as? TestError, .one)
        let refusing = Action<Int, String>(resolving: { _, _ in throw TestError.two })
        XCTAssertEqual(failure(of: refusing(5)) as? TestError, .two)
        let described = Action(Async.value("six"))
        XCTAssertEqual(try described().wait(), "six")
        XCTAssertEqual(try promising.with(7).promise().wait(), "7")
    }

    func testActionsWithoutInputAreCalledWithout() throws {
        let outputs = Journal<Int>()
        let answer = Action<Void, Int> { _, completion in completion(42) }
        XCTAssertEqual(try answer().wait(), 42)
        answer(on: .inline) { outputs.write($0) }
        XCTAssertEqual(outputs.entries, [42])
    }

    func testThenCallsOneAfterTheOther() throws {
        let order = Journal<String>()
        let first = Action<Int, String> { number, completion in
            order.write("first")
            completion("<\(number)>")
        }
        let second = Action<String, Int> { text, completion in
            order.write("second")
            completion(text.count)
        }
        let both = first.then(second)
        XCTAssertEqual(order.entries, [])
        XCTAssertEqual(try both(100).wait(), 5)
        XCTAssertEqual(order.entries, ["first", "second"])
        XCTAssertEqual(try both.map { $0 + 1 }(7).wait(), 4)
    }

    func testAFailureSkipsWhatFollows() throws {
        let calls = Journal<Int>()
        let failing = Action<Int, Int> { (_: Int) throws in throw TestError.one }
        let after = Action<Int, Int> { (number: Int) in
            calls.write(number)
            return number
        }
        XCTAssertEqual(failure(of: failing.then(after)(1)) as? TestError, .one)
        XCTAssertEqual(calls.entries, [])
        XCTAssertEqual(try failing.recover { _ in 9 }.then(after)(1).wait(), 9)
    }

    func testABoundCallbackIsCalledForEachCall() {
        let outputs = Journal<Int>()
        let errors = Journal<TestError>()
        let half = Action<Int, Int> { (number: Int) throws in
            if number % 2 != 0 { throw TestError.one }
            return number / 2
        }
        let fire = half.bind(on: .inline) {
            outputs.write($0)
        } failure: { error in
            if let error = error as? TestError { errors.write(error) }
        }
        for number in [2, 4, 5, 6] { fire(number) }
        XCTAssertEqual(outputs.entries, [1, 2, 3])
        XCTAssertEqual(errors.entries, [.one])
    }

    func testACompletionThatIsNeverCalledIsBroken() {
        let fetchLogin = Action<Void, String> { _, _ in }
        let parsed = Journal<String>()
        let pipeline = fetchLogin.map { parsed.write($0) }
        guard case PromiseError.broken? = failure(of: pipeline()) else {
            return XCTFail("the pipeline stops without a word")
        }
        XCTAssertEqual(parsed.entries, [])
    }

    func testACompletionCountsOnce() throws {
        let outputs = Journal<Int>()
        let insistent = Action<Int, Int> { number, completion in
            completion(number)
            completion(number + 1)
        }
        insistent(1, on: .inline) { outputs.write($0) }
        XCTAssertEqual(outputs.entries, [1])
    }

    func testRunsAtTheSameTimeDoNotInterfere() throws {
        let completions = Guarded<[String: @Sendable (String) -> Void]>([:])
        let first = Action<String, String> { input, completion in
            completions.withLock { $0[input] = completion }
        }
        let pipeline = first.map { $0 + "!" }.then(Action { (text: String) in text + "?" })
        let (a, b) = (pipeline("a"), pipeline("b"))
        let answers = completions.withLock { answers in
            defer { answers = [:] }
            return answers
        }
        answers["b"]?("B")
        XCTAssertEqual(try b.wait(), "B!?")
        XCTAssertTrue(a.isPending)
        answers["a"]?("A")
        XCTAssertEqual(try a.wait(), "A!?")
    }

    func testCancellingACallStopsItsWork() {
        let stopped = Journal<Int>()
        let held = Guarded<PromiseResolver<Int, any Error>?>(nil)
        let slow = Action<Int, Int>(resolving: { number, resolver in
            resolver.onCancel { stopped.write(number) }
            held.withLock { $0 = resolver }
        })
        let call = slow.map { $0 + 1 }(3)
        call.cancel()
        XCTAssertTrue(failure(of: call) is CancellationError)
        XCTAssertEqual(stopped.entries, [3])
        held.withLock { $0 = nil }
    }

    func testAnActionKeepsItsStagesAndNothingElseDoes() throws {
        do {
            let tracker = Tracker()
            let keeping = Action<Int, Int> { (number: Int) in
                withExtendedLifetime(tracker) { number }
            }
            let fire = keeping.then(double).bind(on: .inline) { _ in }
            fire(1)
            fire(2)
            XCTAssertEqual(Tracker.living, 1)
        }
        eventually("the stages are gone") { Tracker.living == 0 }
    }
}
