// Tests of processes as promises.

import Foundation
import Synchronization
import Vow
import VowFoundation
import XCTest

final class ProcessTests: VowTest {
    /// A shell that runs a script.
    private func shell(_ script: String) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        return process
    }

    func testAProcessGivesWhatItHasWritten() throws {
        let output = try shell("echo out; echo err >&2").promise().wait(timeout: patience)
        XCTAssertEqual(output.text, "out\n")
        XCTAssertEqual(output.errorText, "err\n")
    }

    func testOutputLargerThanAPipeComesWholeFromBoth() throws {
        let script = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; echo end"
        let output = try shell(script).promise().wait(timeout: patience)
        XCTAssertEqual(output.standardOutput.count, 1_000_004)
        XCTAssertEqual(output.standardError.count, 1_000_000)
        XCTAssertEqual(output.standardOutput.suffix(4), Data("end\n".utf8))
    }

    func testAnotherStatusThanZeroRejectsWithStatusAndErrors() {
        let error = failure(of: shell("echo why >&2; echo so far; exit 3").promise())
        let processError = error as? ProcessError
        XCTAssertEqual(processError?.status, 3)
        XCTAssertEqual(processError?.reason, .exit)
        XCTAssertEqual(processError?.standardError, Data("why\n".utf8))
        XCTAssertEqual(processError?.output.text, "so far\n")
        XCTAssertEqual(processError?.description, "the process ended with status 3: why")
    }

    func testAnEndBySignalRejectsWithItsNumber() {
        let error = failure(of: shell("kill -9 $$").promise()) as? ProcessError
        XCTAssertEqual(error?.status, 9)
        XCTAssertEqual(error?.reason, .uncaughtSignal)
    }

    func testAProcessThatCannotBeRunRejects() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/nowhere/nothing")
        XCTAssertTrue(failure(of: process.promise()) is CocoaError)
        // Nothing is left of the attempt.
        XCTAssertFalse(process.standardOutput is Pipe)
        XCTAssertNil(process.terminationHandler)
        process.executableURL = URL(fileURLWithPath: "/bin/echo")
        XCTAssertEqual(try process.promise().wait(timeout: patience).text, "\n")
    }

    func testCancellingTerminatesTheProcess() {
        let process = shell("exec sleep 1000")
        let promise = process.promise()
        XCTAssertTrue(process.isRunning)
        XCTAssertTrue(promise.cancel())
        XCTAssertTrue(promise.error is CancellationError)
        eventually("the process is gone") { !process.isRunning }
        XCTAssertEqual(process.terminationReason, .uncaughtSignal)
        XCTAssertEqual(process.terminationStatus, SIGTERM)
    }

    func testTheLastReaderGoingTerminatesTheProcess() {
        let process = shell("exec sleep 1000")
        do {
            let promise = process.promise()
            XCTAssertTrue(promise.isPending)
        }
        eventually("the process is gone") { !process.isRunning }
    }

    func testCancellingDoesNotWaitForAGrandchildThatKeepsThePipe() {
        // The grandchild ends when the input does, which it has from here.
        let input = Pipe()
        let process = shell("exec 3<&0; cat <&3 & exit 0")
        process.standardInput = input
        let promise = process.promise()
        XCTAssertTrue(promise.isPending)
        XCTAssertTrue(promise.cancel())
        XCTAssertTrue(promise.error is CancellationError)
        XCTAssertNoThrow(try input.fileHandleForWriting.close())
    }

    func testAPlaceOfItsOwnIsLeftAlone() throws {
        let pipe = Pipe()
        let process = shell("echo out; echo err >&2")
        process.standardOutput = pipe
        let output = try process.promise().wait(timeout: patience)
        XCTAssertEqual(output.standardOutput, Data())
        XCTAssertEqual(output.errorText, "err\n")
        XCTAssertEqual(
            try pipe.fileHandleForReading.readToEnd(), Data("out\n".utf8))
    }

    func testATerminationHandlerThatWasThereIsCalled() throws {
        let statuses = Journal<Int32>()
        let process = shell("exit 0")
        process.terminationHandler = { statuses.write($0.terminationStatus) }
        try process.promise().wait(timeout: patience)
        XCTAssertEqual(statuses.entries, [0])
    }

    func testFiftyProcessesAtATime() throws {
        let promises = (0..<50).map { shell("echo \($0)").promise() }
        for (number, promise) in promises.enumerated() {
            XCTAssertEqual(try promise.wait(timeout: patience).text, "\(number)\n")
        }
    }
}
