// Tests of what a PromiseScope is made with: deadline, failing fast, patience; and of withPromiseScope.

import Vow
import XCTest

private struct Refused: Error {}

final class ScopeDeadlineTests: VowTest {
    private func isTimeout(_ error: (any Error)?) -> Bool {
        if case .timedOut? = error as? PromiseError { return true }
        return false
    }

    func testADeadlineCancelsTheMembersAndIsTheFailureOfTheEnd() {
        let members = PendingMembers(1, of: Int.self)
        let scope = PromiseScope(deadline: .milliseconds(20))
        scope.add(members.promises[0])
        XCTAssertTrue(isTimeout(failure(of: scope.close())))
        XCTAssertTrue(members.promises[0].isCancelled)
    }

    func testWhatAMemberMakesTakesOverTheDeadline() {
        let scope = PromiseScope(deadline: .milliseconds(20))
        let work = scope.start(on: .pool) { Promise<Void, any Error>.delay(.seconds(600)) }
        XCTAssertTrue(isTimeout(failure(of: scope.close())))
        XCTAssertFalse(work.isPending)
    }

    func testTheFirstFailureCancelsTheOthersAndTheEndComesLast() {
        let members = PendingMembers(2, of: Int.self)
        let (slow, resolver) = Promise<Int, any Error>.pendingCooperative()
        let scope = PromiseScope(failsFast: true)
        for member in members.promises { scope.add(member) }
        scope.add(slow)
        members.resolvers[0].reject(TestError.one)
        XCTAssertTrue(members.promises[1].isCancelled)
        let end = scope.close()
        XCTAssertTrue(end.isPending)
        resolver.fulfill(1)
        XCTAssertEqual(failure(of: end) as? TestError, .one)
    }

    func testMembersMayBeAddedAfterClosingUntilTheScopeHasEnded() throws {
        let members = PendingMembers(3, of: Int.self)
        let scope = PromiseScope()
        scope.add(members.promises[0])
        let end = scope.close()
        XCTAssertTrue(scope.add(members.promises[1]))
        members.resolvers[0].fulfill(1)
        XCTAssertTrue(end.isPending)
        members.resolvers[1].fulfill(1)
        XCTAssertNoThrow(try end.wait())
        XCTAssertFalse(scope.add(members.promises[2]))
        XCTAssertTrue(members.promises[2].isPending)
        XCTAssertEqual(scope.close(), end)
    }

    func testWorkStartsAsAMemberAndNotInACancelledScope() {
        let scope = PromiseScope()
        XCTAssertEqual(try scope.start(on: .pool) { 5 }.wait(), 5)
        scope.cancel()
        XCTAssertTrue(scope.start(on: .pool) { 6 }.isCancelled)
        XCTAssertNoThrow(try scope.close().wait())
    }

    func testANegativeTimeIsTheFailureOfTheEnd() {
        let scope = PromiseScope(deadline: .seconds(-1))
        XCTAssertFalse(scope.add(Promise<Int, any Error>.value(1)))
        XCTAssertNotNil(failure(of: scope.close()))
    }

    func testTheBodyOfWithPromiseScopeIsUnderTheDeadline() {
        let result = withPromiseScope(deadline: .milliseconds(20)) { _ in
            Promise<Void, any Error>.delay(.seconds(600)).map(on: .inline) { "late" }
        }
        XCTAssertTrue(isTimeout(failure(of: result)))
    }

    func testAShieldedMemberIsWaitedForAndNotCancelled() throws {
        let (inner, resolver) = Promise<Int, any Error>.pending()
        let scope = PromiseScope()
        scope.add(inner.shielded())
        scope.cancel()
        let end = scope.close()
        XCTAssertTrue(end.isPending)
        XCTAssertTrue(inner.isPending)
        resolver.fulfill(1)
        XCTAssertNoThrow(try end.wait())
    }

    func testInATaskTheCallReturnsAfterAllMembers() async throws {
        let (member, resolver) = Promise<Int, any Error>.pending()
        let counted = Journal<String>()
        let result = try await withPromiseScope { scope in
            scope.add(member.map(on: .inline) { _ in counted.write("member") })
            await Task.yield()
            resolver.fulfill(1)
            return "r"
        }
        counted.write("returned")
        XCTAssertEqual(result, "r")
        XCTAssertEqual(counted.entries, ["member", "returned"])
    }

    func testCancellingTheTaskCancelsTheScopeAndWaitsForItsMembers() async throws {
        let (member, resolver) = Promise<Int, any Error>.pendingCooperative()
        let (told, tell) = Promise<Void, any Error>.pending()
        resolver.onCancel { tell.fulfill() }
        let counted = Journal<String>()
        let task = Task {
            defer { counted.write("returned") }
            return try await withPromiseScope { scope in
                scope.add(member)
                return try await member.value
            }
        }
        task.cancel()
        try await told.value
        counted.write("member")
        resolver.fulfill(1)
        do {
            _ = try await task.value
            XCTFail("a cancelled task returned a value")
        } catch {
            XCTAssertTrue(error is CancellationError)
        }
        XCTAssertEqual(counted.entries, ["member", "returned"])
    }

    func testInATaskTheDeadlineEndsTheWaitOfTheBody() async {
        let (member, resolver) = Promise<Int, any Error>.pending()
        do {
            _ = try await withPromiseScope(deadline: .milliseconds(20)) { scope in
                scope.add(member)
                return try await member.value
            }
            XCTFail("it returned a value")
        } catch {
            XCTAssertTrue(isTimeout(error))
        }
        resolver.fulfill(1)
    }

    func testInATaskTheDeadlineCancelsTheBody() async {
        do {
            try await withPromiseScope(deadline: .milliseconds(20)) { scope in
                scope.start(on: .pool) { 1 }
                try await Task.sleep(for: .seconds(600))
            }
            XCTFail("it returned")
        } catch {
            XCTAssertTrue(isTimeout(error))
        }
    }

    func testInATaskAFailureOfAMemberCancelsTheBody() async {
        let (member, resolver) = Promise<Int, any Error>.pending()
        do {
            try await withPromiseScope(failsFast: true) { scope in
                scope.add(member)
                resolver.reject(Refused())
                try await Task.sleep(for: .seconds(600))
            }
            XCTFail("it returned")
        } catch {
            XCTAssertTrue(error is Refused)
        }
    }

    func testInATaskTheBodyMayWaitForTheEnd() async throws {
        let value = try await withPromiseScope { scope in
            scope.start(on: .pool) { 1 }
            try await scope.close().value
            return 2
        }
        XCTAssertEqual(value, 2)
    }
}
