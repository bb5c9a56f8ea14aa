// Tests of events of the platform, bound to handlers and actions.

import Dispatch
import Vow
import XCTest

final class EventSourceTests: VowTest {
    func testATimerCallsAgainAndAgainUntilItIsCancelled() throws {
        let calls = Journal<Int>()
        let timer = EventSource.timer(every: .milliseconds(1))
        timer.bind { calls.write(1) }
        eventually("it has been called three times") { calls.entries.count >= 3 }
        try timer.cancel().wait(timeout: .seconds(60))
        let count = calls.entries.count
        usleep(5_000)
        XCTAssertEqual(calls.entries.count, count)
    }

    func testBindingAgainReplacesAndFreesTheFormer() throws {
        let calls = Journal<String>()
        let timer = EventSource.timer(every: .milliseconds(1))
        do {
            let tracker = Tracker()
            timer.bind { withExtendedLifetime(tracker) { calls.write("first") } }
        }
        eventually("the first is called") { calls.entries.contains("first") }
        timer.bind { calls.write("second") }
        eventually("the second is called") { calls.entries.last == "second" }
        eventually("the first is freed") { Tracker.living == 0 }
        let later = calls.entries.count
        eventually("more are called") { calls.entries.count >= later + 3 }
        XCTAssertFalse(calls.entries[later...].contains("first"))
        try timer.cancel().wait(timeout: .seconds(60))
    }

    func testAnActionIsBoundToAReadableDescriptor() throws {
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&ends), 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let read = Action<Void, String> { () throws -> String in
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = Glibc.read(readEnd, &bytes, bytes.count)
            if count < 1 { throw TestError.one }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        let texts = Journal<String>()
        let source = EventSource.readable(readEnd)
        source.bind(read.bind { texts.write($0) })
        XCTAssertEqual(write(writeEnd, "one", 3), 3)
        eventually("the first is read") { texts.entries == ["one"] }
        XCTAssertEqual(write(writeEnd, "two", 3), 3)
        eventually("the second is read") { texts.entries == ["one", "two"] }
        try source.cancel().wait(timeout: .seconds(60))
        close(readEnd)
        close(writeEnd)
    }

    func testASignalIsAnEvent() throws {
        // One that is ignored where nobody asks for it. The process's other threads block all signals.
        var (set, former) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        sigaddset(&set, SIGWINCH)
        XCTAssertEqual(pthread_sigmask(SIG_BLOCK, &set, &former), 0)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let calls = Journal<Int>()
        let source = EventSource.signal(SIGWINCH)
        source.bind { calls.write(1) }
        eventually("it is told") {
            kill(getpid(), SIGWINCH)
            return !calls.entries.isEmpty
        }
        try source.cancel().wait(timeout: .seconds(60))
    }

    func testItEndsWithItsLastReference() {
        do {
            let tracker = Tracker()
            let timer = EventSource.timer(every: .milliseconds(1))
            timer.bind { withExtendedLifetime(tracker) {} }
            XCTAssertEqual(Tracker.living, 1)
        }
        eventually("the handler is freed") { Tracker.living == 0 }
    }
}
