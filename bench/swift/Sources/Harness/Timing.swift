// Times a workload with ordo-one/benchmark.
//
// That harness is meant to be driven through two pipes by its own command, which prints tables. Here the program itself
// writes the requests and reads the answers, in files that have no name.

import ArgumentParser
import Benchmark
import Foundation

/// Nanoseconds of one item.
func time(_ workload: Workload, _ n: Int, seconds: Double) async throws -> Double {
    // Passes that are too short for the clock are timed together.
    let repeats = workload.prepare == nil && workload.clean == nil ? max(1, 10_000 / n) : 1
    let rounds = n > 100_000 ? 1 : 3
    let benchmark = make(workload, n, repeats: repeats, seconds: seconds / Double(rounds))
    let means = try await means(of: benchmark, rounds: rounds)
    return means.sorted()[means.count / 2] / Double(n * repeats)
}

private func make(_ workload: Workload, _ n: Int, repeats: Int, seconds: Double) -> Benchmark {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock], timeUnits: .nanoseconds, warmupIterations: 1,
        maxDuration: .seconds(seconds), maxIterations: .max)
    let made =
        switch workload.pass {
        case .plain(let pass):
            Benchmark(
                "workload", configuration: configuration,
                closure: { (benchmark: Benchmark) in
                    workload.prepare?(n)
                    benchmark.startMeasurement()
                    for _ in 0..<repeats { pass(n) }
                    benchmark.stopMeasurement()
                    workload.clean?(n)
                })
        case .inTask(let pass):
            Benchmark(
                "workload", configuration: configuration,
                closure: { (benchmark: Benchmark) async in
                    workload.prepare?(n)
                    benchmark.startMeasurement()
                    for _ in 0..<repeats { await pass(n) }
                    benchmark.stopMeasurement()
                    workload.clean?(n)
                })
        }
    return made!
}

/// One for each round.
private func means(of benchmark: Benchmark, rounds: Int) async throws -> [Double] {
    let requests = Channel()
    let replies = Channel()
    for _ in 0..<rounds { try requests.write(BenchmarkCommandRequest.run(benchmark: benchmark)) }
    try requests.write(BenchmarkCommandRequest.end)
    requests.rewind()
    var runner = try BenchmarkRunner.parse([
        "--quiet", "true", "--input-fd", "\(requests.descriptor)",
        "--output-fd", "\(replies.descriptor)",
    ])
    try await runner.run()
    replies.rewind()
    var means: [Double] = []
    while let reply: BenchmarkCommandReply = try replies.read() {
        switch reply {
        case .result(_, let results): means.append(results[0].statistics.average)
        case .error(let text): stop("\(text)")
        default: break
        }
    }
    expect(means.count == rounds, "the harness gave no result")
    return means
}

/// A nameless file of messages, each behind its length.
private struct Channel {
    private let file = tmpfile()!

    var descriptor: Int32 { fileno(file) }

    func write(_ message: some Encodable) throws {
        let text = try JSONEncoder().encode(message)
        var length = text.count
        fwrite(&length, MemoryLayout<Int>.size, 1, file)
        _ = text.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        fflush(file)
    }

    func rewind() { lseek(descriptor, 0, SEEK_SET) }

    func read<Message: Decodable>() throws -> Message? {
        var length = 0
        guard Glibc.read(descriptor, &length, MemoryLayout<Int>.size) > 0 else { return nil }
        var text = Data(count: length)
        let count = text.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        expect(count == length, "a message of the harness is not whole")
        return try JSONDecoder().decode(Message.self, from: text)
    }
}
