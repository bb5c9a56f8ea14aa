// Tests that arrays, strings and errors are not converted before C looks, and are once it does.

import CVow
import Dispatch
import Synchronization
import XCTest

@testable import Vow

private struct Described: Error, CustomStringConvertible {
    static let count = Atomic(0)
    var description: String {
        Described.count.add(1, ordering: .relaxed)
        return "described"
    }
}

final class LateValueTests: VowTest {
    func testTenMebibytesGoThroughTenMapsWithoutACopy() throws {
        let bytes = [UInt8](repeating: 7, count: 10 << 20)
        let address = bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let before = PromiseRuntime.statistics.bytes
        var promise = Promise<[UInt8], any Error>.value(bytes)
        for _ in 0..<10 { promise = promise.map(on: .inline) { $0 } }
        let result = try promise.wait()
        XCTAssertEqual(result.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }, address)
        XCTAssertLessThan(PromiseRuntime.statistics.bytes - before, 4096)
    }

    func testALongStringGoesThroughWithoutACopy() throws {
        let text = String(repeating: "grüße ", count: 20_000)
        let before = PromiseRuntime.statistics.bytes
        let promise = Promise<String, any Error>.value(text).map(on: .inline) { $0 }
        XCTAssertLessThan(PromiseRuntime.statistics.bytes - before, 4096)
        XCTAssertEqual(try promise.wait(), text)
    }

    func testCReadsWhatItLooksAt() {
        let list = encode([[1, 2], [3]])
        XCTAssertEqual(list.kind, VOW_LIST)
        XCTAssertEqual(vow_list_count(list), 2)
        XCTAssertEqual(vow_list_at(vow_list_at(list, 0), 1).as.integer, 2)
        XCTAssertEqual(list.text, "[[1, 2], [3]]")
        XCTAssertEqual(decode(list, as: [[Int]].self), [[1, 2], [3]])
        XCTAssertEqual(decode(list, as: [[Int8]].self), [[1, 2], [3]])
        vow_value_release(list)
        let text = encode(String(repeating: "x", count: 1000))
        var length = 0
        let bytes = vow_string_bytes(text, &length)
        XCTAssertEqual(length, 1000)
        XCTAssertEqual(vow_string_bytes(text, nil), bytes, "it is made once")
        vow_value_release(text)
    }

    /// Who serves the main actor meanwhile waits for one of two promises, and reads neither.
    func testAWaitOnTheMainThreadDoesNotConvertTheFailure() throws {
        XCTAssertTrue(MainLane.isToBeServed)
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let described = Described.count.load(ordering: .relaxed)
        _ = promise.servingMainActor(-1) { awaited, nanoseconds in
            if nanoseconds != 0 { resolver.reject(Described()) }
            return vow_await(awaited, nanoseconds, nil)
        }
        XCTAssertTrue(failure(of: promise) is Described)
        XCTAssertEqual(Described.count.load(ordering: .relaxed), described)
    }

    func testManyThreadsThatLookSeeTheSame() {
        let list = encode(Array(0..<1000))
        let seen = Journal<UInt>()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            XCTAssertEqual(vow_list_at(list, 999).as.integer, 999)
            seen.write(UInt(vow_list_count(list)))
        }
        XCTAssertEqual(seen.entries, Array(repeating: 1000, count: 8))
        vow_value_release(list)
    }

    func testCMapsAListOfSwifts() throws {
        let list = encode([1, 2, 3])
        let mapped = Promise<[Int], any Error>(
            taking: vow_map(list, { value, _ in vow_int(value.as.integer * 2) }, nil, 0))
        XCTAssertEqual(try mapped.wait(), [2, 4, 6])
    }

    func testAnErrorThatIsRecoveredIsNeverDescribed() throws {
        let before = Described.count.load(ordering: .relaxed)
        let failed = Promise<Int, any Error>.value(1).map { _ -> Int in throw Described() }
        XCTAssertEqual(try failed.recover { $0 is Described ? 2 : 3 }.wait(), 2)
        XCTAssertEqual(Described.count.load(ordering: .relaxed), before)
        failed.withCPromise { promise in
            var error = vow_none()
            XCTAssertTrue(vow_promise_peek(promise, &error))
            XCTAssertEqual(vow_error_message(error).map { String(cString: $0) }, "described")
            XCTAssertEqual(vow_error_code(error), 1)
        }
        XCTAssertTrue(failed.error is Described)
    }
}
