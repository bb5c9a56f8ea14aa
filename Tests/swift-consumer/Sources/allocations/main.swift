// allocations KIND LINKS: builds, runs and frees a chain, for scripts/swift-consumer to count what it allocates.

import Vow

let kind = CommandLine.arguments[1]
let links = Int(CommandLine.arguments[2])!

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
    case "flatMap": end = end.flatMap(on: .inline) { .value($0 + 1) }
    default: fatalError("no such kind")
    }
}
resolver.fulfill(1)
print(try end.wait())
