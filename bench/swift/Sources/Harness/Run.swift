// The main function of every peer in Swift: runs one workload, prints the protocol's line (bench/README.md).

import Foundation

/// Never returns; the program's whole main file but for its workloads.
public func runPeer(version: String, _ workloads: [String: Workload]) -> Never {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let n = Int(arguments[2]), n > 0 else {
        FileHandle.standardError.write(Data("usage: \(arguments[0]) WORKLOAD N\n".utf8))
        exit(2)
    }
    keepErrorDescriptor()
    nonisolated(unsafe) let workload = workloads[arguments[1]]
    Task(executorPreference: MainThread.shared) {
        var line = Line(workload: arguments[1], n: n, version: version)
        if let workload {
            do { try await measure(workload, n, into: &line) } catch {
                stop("\(error)")
            }
        } else {
            line.unsupported = "not offered"
        }
        line.print()
        _exit(0)  // Threads may still be there; the system takes the rest back.
    }
    MainThread.shared.run()
}

private func measure(_ workload: Workload, _ n: Int, into line: inout Line) async throws {
    let environment = ProcessInfo.processInfo.environment
    line.note = workload.note
    workload.begin?(n)
    if workload.isHeld {
        weigh(workload, n, into: &line)
    } else if environment["BENCH_COUNT"] == "1" {
        count(workload, n, into: &line)
    } else {
        let seconds = environment["BENCH_SECONDS"].flatMap(Double.init) ?? 0.2
        line.ns_per_item = try await time(workload, n, seconds: seconds)
    }
}

/// What three passes take from the allocator, after one to warm up.
private func count(_ workload: Workload, _ n: Int, into line: inout Line) {
    guard readCounts() != nil else { stop("BENCH_COUNT without a counter") }
    let passes = 3
    var allocations: UInt64 = 0
    var bytes: UInt64 = 0
    for pass in 0...passes {
        workload.prepare?(n)
        let before = readCounts()!
        runOnce(workload.pass, n)
        let after = readCounts()!
        workload.clean?(n)
        if pass == 0 { continue }
        allocations += after.allocations - before.allocations
        bytes += after.bytes - before.bytes
    }
    line.allocations_per_item = Double(allocations) / Double(n * passes)
    line.bytes_per_item = Double(bytes) / Double(n * passes)
}

/// One pass, and what its promises hold while they are pending.
private func weigh(_ workload: Workload, _ n: Int, into line: inout Line) {
    let resident = residentBytes()
    let before = readCounts()
    let start = ContinuousClock.now
    runOnce(workload.pass, n)
    line.ns_per_item = Double((ContinuousClock.now - start) / .nanoseconds(1)) / Double(n)
    if let before, let after = readCounts() {
        line.allocations_per_item = Double(after.allocations - before.allocations) / Double(n)
        line.bytes_per_item = Double(after.live - before.live) / Double(n)
    }
    line.resident_per_item = (residentBytes() - resident) / Double(n)
    workload.clean?(n)
}

private func runOnce(_ pass: Workload.Pass, _ n: Int) {
    switch pass {
    case .plain(let pass): pass(n)
    case .inTask(let pass):
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await pass(n)
            done.signal()
        }
        done.wait()
    }
}
