// Loads libvow.so into a program with the full Swift runtime: the path that is its first argument,
// or else the library in its run path.
//
// Expected: it prints one line that begins with "ok" and ends with 0. It would crash if the library
// exported parts of the Swift runtime that it was built with: the program's own objects would then
// be retained and released by the wrong runtime. So the program works its objects hard before,
// while and after the library runs. Types come from the header (import CVow); functions are looked
// up in the library.
//
// Build: swiftc -parse-as-library -I include host.swift -o host

import CVow
import Glibc

final class Node {
    let name: String
    var children: [Node] = []
    init(_ name: String) { self.name = name }
}

/// Builds and drops a tree of objects; the number of letters in all names of it.
func growTree(depth: Int) -> Int {
    func grow(_ depth: Int, _ name: String) -> Node {
        let node = Node(name)
        if depth > 0 {
            node.children = (0..<3).map { grow(depth - 1, "\(name).\($0)") }
        }
        return node
    }
    func letters(_ node: Node) -> Int {
        node.children.reduce(node.name.count) { $0 + letters($1) }
    }
    return letters(grow(depth, "root"))
}

/// Sorts, groups and joins strings by dictionaries, sets and arrays.
func shuffleStrings(_ count: Int) -> Int {
    var groups: [Int: [String]] = [:]
    for number in 0..<count {
        groups[number % 7, default: []].append(String(number * 7919, radix: 36))
    }
    let joined = groups.values.map { $0.sorted().joined(separator: "-") }.joined(separator: "+")
    return Set(joined).count
}

actor Ledger {
    private(set) var total = 0
    func add(_ amount: Int) { total += amount }
}

/// Runs many tasks that meet in an actor.
func runTasks(_ count: Int) async -> Int {
    let ledger = Ledger()
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask { await ledger.add(growTree(depth: 3) > 0 ? number : 0) }
        }
    }
    return await ledger.total
}

struct Library: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    func function<Signature>(_ name: String, as type: Signature.Type) -> Signature {
        guard let symbol = dlsym(handle, name) else { fatalError("\(name) is missing") }
        return unsafeBitCast(symbol, to: type)
    }

    typealias Handler = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> vow_value

    /// A chain of so many links on the pool, whose handlers use Swift objects; its result.
    func runChain(_ links: Int) -> Int64 {
        let with = function(
            "vow_promise_with", as: (@convention(c) (vow_value) -> OpaquePointer).self)
        let then = function(
            "vow_then",
            as: (@convention(c) (OpaquePointer, Handler, UnsafeMutableRawPointer?) -> OpaquePointer)
                .self)
        let wait = function(
            "vow_await",
            as: (@convention(c) (OpaquePointer, Int64, UnsafeMutablePointer<vow_value>?) -> Int32)
                .self)
        let release = function(
            "vow_promise_release", as: (@convention(c) (OpaquePointer?) -> Void).self)
        var promise = with(vow_int(0))
        for _ in 0..<links {
            promise = then(
                promise,
                { input, _ in
                    vow_int(input.as.integer + (growTree(depth: 2) > 0 ? 1 : 0))
                }, nil)
        }
        var out = vow_none()
        guard wait(promise, 60_000_000_000, &out) == 1 else { return -1 }
        release(promise)
        return out.as.integer
    }

    /// Strings and lists of the library, made and freed; the number of promises left alive.
    func runValues(_ rounds: Int) -> UInt64 {
        let string = function(
            "vow_string", as: (@convention(c) (UnsafePointer<CChar>?, Int) -> vow_value).self)
        let list = function(
            "vow_list", as: (@convention(c) (UnsafePointer<vow_value>?, Int) -> vow_value).self)
        let release = function("vow_value_release", as: (@convention(c) (vow_value) -> Void).self)
        for round in 0..<rounds {
            let text = String(repeating: "x", count: round % 100)
            release(list([string(text, text.utf8.count), vow_int(Int64(round))], 2))
        }
        let stats = function(
            "vow_stats", as: (@convention(c) (UnsafeMutablePointer<vow_statistics>) -> Int32).self)
        var numbers = vow_statistics()
        numbers.size = MemoryLayout<vow_statistics>.size
        guard stats(&numbers) == 0 else { return .max }
        return numbers.live
    }
}

func require(_ condition: Bool, _ what: String) {
    guard condition else {
        print("not ok \(what)")
        exit(1)
    }
}

@main
struct Host {
    static func main() async {
        let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "libvow.so"
        guard let handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL) else {
            print("not ok no library: \(dlerror().map { String(cString: $0) } ?? path)")
            exit(1)
        }
        let library = Library(handle: handle)
        let letters = growTree(depth: 6)
        let symbols = shuffleStrings(5000)
        let both = await withTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask { library.runChain(500) }
                group.addTask { Int64(await runTasks(200)) }
            }
            var sum: Int64 = 0
            for await part in group { sum += part }
            return sum
        }
        require(both == 4 * (500 + 199 * 200 / 2), "chains and tasks side by side give \(both)")
        require(library.runValues(10_000) == 0, "no promise is left")
        require(growTree(depth: 6) == letters, "a tree is the same after the library ran")
        require(shuffleStrings(5000) == symbols, "strings are the same after the library ran")
        print("ok objects, strings and tasks of Swift and the library run side by side")
    }
}
