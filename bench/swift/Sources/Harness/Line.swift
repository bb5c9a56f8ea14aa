// The line that a peer prints; its keys are the protocol's (bench/README.md).

import Foundation

struct Line: Encodable {
    let workload: String
    let n: Int
    var ns_per_item: Double?
    var allocations_per_item: Double?
    var bytes_per_item: Double?
    var resident_per_item: Double?
    var unsupported: String?
    var note: String?
    let harness = "ordo-one/benchmark 1.38.1"
    let compiler: String
    let flags = "swift build -c release"
    let version: String

    init(workload: String, n: Int, version: String) {
        self.workload = workload
        self.n = n
        self.version = version
        compiler = Line.compiler
    }

    /// What the build script has left beside the program.
    private static var compiler: String {
        let file = CommandLine.arguments[0] + ".compiler"
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "Swift"
    }

    func print() {
        let text = try! JSONEncoder().encode(self)
        Swift.print(String(decoding: text, as: UTF8.self))
        fflush(nil)
    }
}
