// Tests of readable and writable.

import Vow
import XCTest

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

final class DescriptorTests: VowTest {
    private var ends: [Int32] = [-1, -1]

    override func setUp() {
        XCTAssertEqual(pipe(&ends), 0)
        super.setUp()
    }

    override func tearDown() {
        super.tearDown()
        for end in ends { close(end) }
    }

    func testOnALoopTheLoopWatches() throws {
        let loop = try PromiseLoop()
        let readable = Promise.readable(ends[0])
        try loop.runOnce(timeout: .zero)
        XCTAssertTrue(readable.isPending)
        XCTAssertEqual(write(ends[1], "x", 1), 1)
        XCTAssertNoThrow(try loop.run(until: readable))
    }

    func testOffTheLoopsLibdispatchWatches() throws {
        let readable = Promise.readable(ends[0])
        XCTAssertTrue(readable.isPending)
        XCTAssertEqual(write(ends[1], "x", 1), 1)
        XCTAssertNoThrow(try readable.wait(timeout: .seconds(60)))
    }

    func testAnEmptyPipeCanBeWrittenAtOnce() throws {
        XCTAssertNoThrow(try Promise.writable(ends[1]).wait(timeout: .seconds(60)))
    }

    func testTheEndOfAPipeIsReadable() throws {
        let readable = Promise.readable(ends[0])
        close(ends[1])
        ends.removeLast()
        XCTAssertNoThrow(try readable.wait(timeout: .seconds(60)))
    }

    func testCancellingEndsTheWatch() throws {
        let loop = try PromiseLoop()
        let readable = Promise.readable(ends[0])
        XCTAssertTrue(readable.cancel())
        XCTAssertEqual(write(ends[1], "x", 1), 1)
        XCTAssertEqual(try loop.runOnce(timeout: .zero), 0)
    }

    func testADescriptorThatIsNotOpenIsRejected() {
        guard case PromiseError.invalidArgument? = failure(of: Promise.readable(-1)) else {
            return XCTFail("no descriptor was taken for one")
        }
    }
}
