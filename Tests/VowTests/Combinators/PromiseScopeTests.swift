// Tests of PromiseScope.

import Dispatch
import Vow
import XCTest

final class PromiseScopeTests: VowTest {
    func testTheEndIsThatOfAllMembers() throws {
        let members = PendingMembers(2, of: Int.self)
        let scope = PromiseScope()
        for member in members.promises { XCTAssertTrue(scope.add(member)) }
        let end = scope.close()
        members.resolvers[0].fulfill(1)
        XCTAssertTrue(end.isPending)
        members.resolvers[1].fulfill(1)
        XCTAssertNoThrow(try end.wait())
    }

    func testAnEmptyScopeEndsAtOnce() {
        XCTAssertEqual(PromiseScope().close().state, .fulfilled)
    }

    func testTheFirstFailureIsTheScopesOnceAllHaveSettled() {
        let members = PendingMembers(3, of: Int.self)
        let scope = PromiseScope()
        for member in members.promises { scope.add(member) }
        let end = scope.close()
        members.resolvers[1].reject(TestError.one)
        members.resolvers[0].reject(TestError.two)
        XCTAssertTrue(end.isPending)
        members.promises[2].cancel()
        XCTAssertEqual(end.error as? TestError, .one)
    }

    func testCancellingCancelsTheMembersAndThoseThatComeLater() {
        let members = PendingMembers(2, of: Int.self)
        let scope = PromiseScope()
        scope.add(members.promises[0])
        scope.cancel()
        XCTAssertTrue(members.promises[0].isCancelled)
        XCTAssertFalse(scope.add(members.promises[1]))
        XCTAssertTrue(members.promises[1].isCancelled)
        XCTAssertEqual(scope.close().state, .fulfilled)
    }

    func testAClosedScopeTakesNothingAndLeavesItAlone() {
        let members = PendingMembers(1, of: Int.self)
        let scope = PromiseScope()
        let end = scope.close()
        XCTAssertFalse(scope.add(members.promises[0]))
        scope.cancel()
        XCTAssertTrue(members.promises[0].isPending)
        XCTAssertEqual(scope.close(), end)
    }

    func testCancellingTheEndCancelsTheMembers() {
        let members = PendingMembers(1, of: Int.self)
        let scope = PromiseScope()
        scope.add(members.promises[0])
        scope.close().cancel()
        XCTAssertTrue(members.promises[0].isCancelled)
    }

    func testAScopeThatIsLostCancelsItsMembers() {
        let members = PendingMembers(1, of: Int.self)
        PromiseScope().add(members.promises[0])
        XCTAssertTrue(members.promises[0].isCancelled)
    }

    func testAHandlerOfAMemberMayUseTheScope() throws {
        let members = PendingMembers(1, of: Int.self)
        let late = PendingMembers(1, of: Int.self)
        let (first, added) = (members.promises[0], late.promises[0])
        let scope = PromiseScope()
        first.onComplete(on: .inline) { _ in
            scope.add(added)
            scope.close()
        }
        scope.add(first)
        members.resolvers[0].fulfill(1)
        let end = scope.close()
        XCTAssertTrue(end.isPending)
        late.resolvers[0].fulfill(1)
        XCTAssertNoThrow(try end.wait())
    }

    func testTheResultComesAfterAllThatTheBodyHasPutIn() throws {
        let members = PendingMembers(1, of: Int.self)
        let result = PromiseScope.with { scope in
            scope.add(members.promises[0])
            return Promise<String, any Error>.value("r")
        }
        XCTAssertTrue(result.isPending)
        members.resolvers[0].fulfill(1)
        XCTAssertEqual(try result.wait(), "r")
    }

    func testABodyThatFailsCancelsWhatItHasPutIn() {
        let members = PendingMembers(1, of: Int.self)
        let result = PromiseScope.with { scope -> Promise<String, any Error> in
            scope.add(members.promises[0])
            throw TestError.one
        }
        XCTAssertTrue(members.promises[0].isCancelled)
        XCTAssertEqual(failure(of: result) as? TestError, .one)
    }

    func testAMembersFailureIsTheWholes() {
        let result = PromiseScope.with { scope in
            scope.add(Promise<Int, any Error>.failure(TestError.two))
            return Promise<String, any Error>.value("r")
        }
        XCTAssertEqual(failure(of: result) as? TestError, .two)
    }

    func testTheBodysFailureGoesBeforeAMembers() {
        let result = PromiseScope.with { scope -> Promise<String, any Error> in
            scope.add(Promise<Int, any Error>.failure(TestError.two))
            throw TestError.one
        }
        XCTAssertEqual(failure(of: result) as? TestError, .one)
    }

    func testCancellingTheWholeCancelsTheBodysPromiseAndTheMembers() {
        let body = Promise<String, any Error>.pending()
        let members = PendingMembers(2, of: Int.self)
        let early = PromiseScope.with { scope in
            scope.add(members.promises[0])
            return body.promise.map { $0 }
        }
        early.cancel()
        XCTAssertTrue(members.promises[0].isCancelled)
        let late = PromiseScope.with { scope in
            scope.add(members.promises[1])
            return Promise<String, any Error>.value("r")
        }
        late.cancel()
        XCTAssertTrue(members.promises[1].isCancelled)
        body.resolver.fulfill("b")
    }

    func testManyThreadsMayAddWhileOneCloses() throws {
        for _ in 0..<200 {
            let scope = PromiseScope()
            let added = Journal<Promise<Int, any Error>>()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                if thread == 3 {
                    scope.close()
                } else {
                    let (promise, resolver) = Promise<Int, any Error>.pending()
                    if scope.add(promise) { added.write(promise) }
                    resolver.fulfill(thread)
                }
            }
            XCTAssertNoThrow(try scope.close().wait())
            XCTAssertTrue(added.entries.allSatisfy { !$0.isPending })
        }
    }
}
