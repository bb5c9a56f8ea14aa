// A screen of the main actor's: its handlers run there without a word about it, and touch `self` as the compiler allows.

import Vow

@MainActor final class Screen {
    private(set) var title = "" {
        didSet { print("title: \(title)") }
    }

    func show(_ page: Promise<String, any Error>) -> Promise<Void, Never> {
        page
            .map(on: .pool) { $0.uppercased() }
            .get { self.title = $0 }
            // A closure that awaits has a task, which is cancelled with the link.
            .map { text in
                await Task.yield()
                return text + "!"
            }
            .done { self.title = $0 }
            .catch { self.title = "no page: \($0)" }
    }
}

/// Another actor, which is given to its handlers.
actor Ledger {
    private var lines: [String] = []

    func write(_ line: String) -> Int {
        lines.append(line)
        return lines.count
    }
}

enum LoadingError: Error { case offline }

let screen = Screen()
await screen.show(.value("hello")).value
await screen.show(.failure(LoadingError.offline)).value

let ledger = Ledger()
let page = Promise<String, any Error>.value("hello")
let count = page.map { text in await ledger.write(text) }
print("lines: \(try await count.value)")
