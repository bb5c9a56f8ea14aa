// Swift tasks and continuations, on Swift's own pool.
import Foundation
import Synchronization

typealias Continuation = UnsafeContinuation<Void, Never>

/// Whether the pass has printed its line itself.
nonisolated(unsafe) var held = false
nonisolated(unsafe) var gates: [Continuation?] = []
nonisolated(unsafe) var lastIsHere: Continuation?
let absent = Atomic(0)

func spawn(_ n: Int) async {
    var tasks: [Task<Int, Never>] = []
    for _ in 0..<n { tasks.append(Task.detached { 1 }) }
    var sum = 0
    for task in tasks { sum += await task.value }
    precondition(sum == n)
}

func wait(_ n: Int, _ there: () -> Void) async {
    gates = Array(repeating: nil, count: n)
    nonisolated(unsafe) let room = gates.withUnsafeMutableBufferPointer { $0 }
    absent.store(n, ordering: .sequentiallyConsistent)
    var tasks: [Task<Void, Never>] = []
    await withUnsafeContinuation { (all: Continuation) in
        lastIsHere = all
        for i in 0..<n {
            tasks.append(
                Task.detached {
                    await withUnsafeContinuation { (gate: Continuation) in
                        room[i] = gate
                        if absent.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
                            lastIsHere?.resume()
                        }
                    }
                })
        }
    }
    there()
    for gate in gates { gate!.resume() }
    for task in tasks { await task.value }
}

/// A number of the line of /proc/self/status that begins with this.
func status(_ key: String) -> Double {
    let text = try! String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }!
    return Double(line.split(whereSeparator: \.isWhitespace)[1])!
}

func hold(_ n: Int) async {
    let before = status("VmRSS:")
    await wait(n) {
        let bytes = (status("VmRSS:") - before) * 1024 / Double(n)
        print("{\"ns_per_item\":\(bytes),\"threads\":\(status("Threads:"))}")
        held = true
    }
}

/// The player whose turn it is not.
nonisolated(unsafe) var other: Continuation?

func turn() async {
    await withUnsafeContinuation { (mine: Continuation) in
        let now = other
        other = mine
        now?.resume()
    }
}

/// The first one gives a turn only when it was given one; the second one begins.
func handOver(_ n: Int) async {
    other = nil
    await withUnsafeContinuation { (begun: Continuation) in
        Task.detached {
            await withUnsafeContinuation { (mine: Continuation) in
                other = mine
                begun.resume()
            }
            for _ in 1..<n / 2 { await turn() }
            other!.resume()
        }
    }
    for _ in 0..<n / 2 { await turn() }
}

let workloads: [String: @Sendable (Int) async -> Void] = [
    "spawn": { await spawn($0) }, "await": { await wait($0) {} },
    "hand-over": { await handOver($0) }, "hold": { await hold($0) },
]
let pass = workloads[CommandLine.arguments[1]]!
let n = Int(CommandLine.arguments[2])!
let seconds = Double(ProcessInfo.processInfo.environment["BENCH_SECONDS"]!)!
let clock = ContinuousClock()

/// Off the main thread, where resuming costs more.
await Task.detached {
    await pass(n)
    let begin = clock.now
    var passes = 0
    while !held && clock.now - begin < .seconds(seconds) {
        await pass(n)
        passes += 1
    }
    if !held {
        print("{\"ns_per_item\":\((clock.now - begin) / .nanoseconds(1) / Double(passes * n))}")
    }
}.value
