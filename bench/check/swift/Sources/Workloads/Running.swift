// Which workloads there are, and how one is run from the command line.

import CCheck
import Glibc
import Vow

/// One item of it is what the title says.
public struct SwiftWorkload: Sendable {
    let name: String
    let title: String
    /// It is run with this and with twice as much.
    let size: Int
    let hasThreads: Bool
    public let run: @Sendable (Int) -> Void

    init(
        _ name: String, _ title: String, _ size: Int, hasThreads: Bool = false,
        _ run: @escaping @Sendable (Int) -> Void
    ) {
        self.name = name
        self.title = title
        self.size = size
        self.hasThreads = hasThreads
        self.run = run
    }
}

/// `--list` names them; `NAME SIZE` runs one and prints what was measured, and over how many items.
public func runFromCommandLine() -> Never {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--list" {
        for one in workloads {
            print(one.name, one.size, one.hasThreads ? "threads" : "-", one.title, separator: "\t")
        }
        exit(0)
    }
    guard arguments.count == 2, let size = arguments.last.flatMap({ Int($0) }),
        let one = workloads.first(where: { $0.name == arguments.first })
    else {
        print("usage: --list | WORKLOAD SIZE")
        exit(2)
    }
    measure_start()
    // What is made once is made before.
    isMeasuring = false
    one.run(10)
    isMeasuring = true
    one.run(size)
    print("items", size)
    fflush(nil)
    measure_print()
    exit(0)
}

nonisolated(unsafe) private var isMeasuring = false

/// What `body` does is measured.
func measured(_ body: () -> Void) {
    if !isMeasuring { return body() }
    measure_begin()
    body()
    measure_end()
}

/// Ends the program where something is not so.
func expect(_ condition: Bool, _ what: StaticString) {
    if condition { return }
    print("not so: \(what)")
    exit(1)
}
