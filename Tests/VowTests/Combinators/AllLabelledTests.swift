// Tests of all(labelling:): which one failed.

import Vow
import XCTest

final class AllLabelledTests: VowTest {
    func testAFailureIsToldWhichMemberItWas() {
        let members = PendingMembers(3, of: Int.self)
        let all = Promise.all(labelling: members.promises)
        members.resolvers[0].fulfill(1)
        members.resolvers[2].reject(TestError.three)
        let error = failure(of: all) as? MemberError<Int>
        XCTAssertEqual(error?.label, 2)
        XCTAssertEqual(error?.underlying as? TestError, .three)
    }

    func testAFailureInADictionaryIsToldWithItsKey() {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.all(labelling: ["a": members.promises[0], "b": members.promises[1]])
        members.resolvers[1].reject(TestError.one)
        let error = failure(of: all) as? MemberError<String>
        XCTAssertEqual(error?.label, "b")
        XCTAssertEqual(error?.underlying as? TestError, .one)
    }

    func testWithoutFailureItIsAsAll() throws {
        let members = [Promise<String, TestError>.value("x"), .value("y")]
        XCTAssertEqual(try Promise.all(labelling: members).wait(), ["x", "y"])
        XCTAssertEqual(try Promise.all(labelling: ["k": members[0]]).wait(), ["k": "x"])
    }

    func testTheOuterOneOfTwoSaysItsOwnPlace() {
        let inner = Promise.all([Promise<Int, any Error>.failure(TestError.one)])
        let all = Promise.all(labelling: [.value([1]), .value([2]), inner])
        XCTAssertEqual((failure(of: all) as? MemberError<Int>)?.label, 2)
    }

    func testAMembersCancellationIsAMembersFailureAndTheWholesIsNot() {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.all(labelling: members.promises)
        members.promises[1].cancel()
        let error = failure(of: all) as? MemberError<Int>
        XCTAssertEqual(error?.label, 1)
        XCTAssertTrue(error?.underlying is CancellationError)
        let whole = Promise.all(labelling: [members.promises[0]])
        whole.cancel()
        XCTAssertTrue(whole.isCancelled)
    }
}
