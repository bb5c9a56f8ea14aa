// How large a test is: as large as it takes to show something, and full with TEST_DEPTH=full.
import Foundation

/// `enough` every day, `full` when `make prove` asks for it.
public func manyOf(_ enough: Int, full: Int) -> Int {
    ProcessInfo.processInfo.environment["TEST_DEPTH"] == "full" ? full : enough
}
