// What the tests of the bridges share.

import Synchronization
import Vow
import XCTest

enum TestError: Error { case one }

/// What handlers on several threads write down, in order.
final class Journal<Entry: Sendable>: Sendable {
    private let lines = Mutex<[Entry]>([])

    var entries: [Entry] { lines.withLock { $0 } }
    func write(_ entry: Entry) { lines.withLock { $0.append(entry) } }
}
