// Three requests, each of which needs the answer to the one before. They are described first, and run in strict order
// when executed, although a queue answers each of them whenever it likes to.

import Dispatch
import Vow

enum RequestError: Error { case notFound(String) }

/// What the server has.
let pages = [
    "/user/7": "/inbox/7",
    "/inbox/7": "/message/1",
    "/message/1": "Hello from the end of the chain.",
]

/// The description of a request. Nothing is sent before it is executed, and each execution sends it anew.
func get(_ path: String) -> Async<String> {
    Async { resolver in
        print("> \(path)")
        DispatchQueue.global().async {
            print("< \(path)")
            resolver.settle(pages[path], pages[path] == nil ? RequestError.notFound(path) : nil)
        }
    }
}

@main
enum Requests {
    static func main() throws {
        let message = get("/user/7").flatMap { get($0) }.flatMap { get($0) }
        print("described, and nothing sent")

        let text = try message.promise().wait()
        print("the message: \(text)")

        // Again, from the beginning, with a callback.
        let counted = DispatchSemaphore(value: 0)
        message.map(\.count).execute { result in
            if case .success(let count) = result { print("\(count) letters") }
            counted.signal()
        }
        counted.wait()

        // The first failure ends the chain.
        let broken = get("/user/8").flatMap { get($0) }.flatMap { get($0) }
        try broken.promise().done { print($0) }.catch { print("failed: \($0)") }.wait()
    }
}
