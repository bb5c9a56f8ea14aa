// What the lines in the tables of the "Coming from" pages take for granted, beside Prelude.swift.

import Dispatch
import Foundation
import Vow
import VowFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let user = logIn("ali")
let guest = User(name: "guest")
let page = fetchPage("/")
let mirror = fetchPage("/mirror")
let pages = [page, mirror]
let paths = ["/a", "/b"]
let number = Promise<Int, any Error>.value(1)
let numbers = Promise<[Int], any Error>.value([1, 2])
let maybe = Promise<Int?, any Error>.value(nil)
let anything = Promise<any Sendable, any Error>.value(1)
let nested = Promise<Promise<Int, any Error>, any Error>.value(number)
let sure = Guarantee.value(1)
let typed = Promise<Int, LoginError>.value(1)
let (later, resolver) = Promise<Int, any Error>.pending()
let work = Async<Int> { resolver in resolver.fulfill(1) }
let addresses = AsyncStream<String> { $0.finish() }

let queue = DispatchQueue(label: "rows")
let executor = PromiseExecutor.serial()
let loop = try! PromiseLoop()
let source = CancellationSource()
let token = source.token
let scope = PromiseScope()

@MainActor final class Screen {
    var title = ""
    func show(_ user: User) { title = user.name }
}
@MainActor let screen = Screen()

actor Session {
    var names: [String] = []
    func add(_ name: String) { names.append(name) }
}
let session = Session()

func startSpinner() {}
func stopSpinner() {}
func close() -> Guarantee<Void> { .value }
func save(_: String) -> Promise<Void, LoginError> { .value }
let address = URL(string: "http://127.0.0.1/")!
let request = URLRequest(url: address)
