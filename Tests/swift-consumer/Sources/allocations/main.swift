// allocations KIND LINKS: builds, runs and frees a chain, for scripts/swift-consumer to count what it allocates.

import Vow

/// Isolated to nothing, as most code is; what stands at the top level of a program is the main actor's.
nonisolated private func chain(_ kind: String, _ links: Int) throws -> Int {
    PromiseExecutor.setStandard(.inline)
    let (promise, resolver) = Promise<Int, any Error>.pending()
    var end = promise
    for index in 0..<links {
        switch kind {
        case "map": end = end.map(on: .inline) { $0 + 1 }
        case "capture": end = end.map(on: .inline) { $0 + index }
        case "throwing":
            end = end.map(on: .inline) { number in
                if number < 0 { throw PromiseError.noSuchElement }
                return number + index
            }
        case "then": end = end.then(on: .inline) { .value($0 + 1) }
        case "get": end = end.get(on: .inline) { _ in }
        case "map-here": end = end.map { $0 + 1 }
        case "capture-here": end = end.map { $0 + index }
        case "throwing-here":
            end = end.map { number in
                if number < 0 { throw PromiseError.noSuchElement }
                return number + index
            }
        default: fatalError("no such kind")
        }
    }
    resolver.fulfill(1)
    return try end.wait()
}

print(try chain(CommandLine.arguments[1], Int(CommandLine.arguments[2])!))
