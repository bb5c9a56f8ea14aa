// Shows a progress bar for a map of delays, and what stands behind each step.
//
// The clock is a virtual loop's, so that the program ends at once and always prints the same.

import Vow

/// A page that takes a while to come.
struct Page: Sendable {
    let name: String
    let delay: Duration
}

let pages = [
    Page(name: "cover", delay: .milliseconds(100)),
    Page(name: "contents", delay: .milliseconds(300)),
    Page(name: "chapter 1", delay: .milliseconds(400)),
    Page(name: "chapter 2", delay: .milliseconds(500)),
    Page(name: "index", delay: .milliseconds(200)),
]

/// Ten places, and the note behind them.
func bar(_ fraction: Double, _ note: String?) -> String {
    let done = Int((fraction * 10).rounded())
    let filled = String(repeating: "#", count: done) + String(repeating: ".", count: 10 - done)
    return "[\(filled)] \(Int((fraction * 100).rounded()))%" + (note.map { " \($0)" } ?? "")
}

func load(_ page: Page) -> Promise<String, any Error> {
    Promise.delay(page.delay).map { page.name }
}

@main
struct Progress {
    static func main() throws {
        let loop = try PromiseLoop.virtual()

        print("two at a time, and every step is shown:")
        let book = Promise.map(pages, concurrency: 2, on: loop.executor) { load($0) }
            .onProgress(on: loop.executor) { print(bar($0, $1)) }
        print(try finish(book, on: loop).joined(separator: ", "))

        print("a producer says more than anybody wants to see:")
        let (copy, resolver) = Promise<Int, any Error>.pending()
        copy.onProgress(every: .milliseconds(500), on: loop.executor) { print(bar($0, $1)) }
        for step in 1...20 {
            Promise.delay(.milliseconds(100 * step)).done(on: loop.executor) {
                resolver.setProgress(Double(step) / 20, note: "\(step) of 20 files")
                if step == 20 { resolver.fulfill(step) }
            }
        }
        print("copied \(try finish(copy, on: loop)) files")
    }

    /// The loop has the bar's last step still to show when the promise is settled.
    static func finish<Value>(
        _ promise: Promise<Value, any Error>, on loop: PromiseLoop
    ) throws -> Value {
        defer { _ = try? loop.advance(by: .zero) }
        return try loop.run(until: promise)
    }
}
