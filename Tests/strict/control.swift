// What must compile under complete checking: the probes beside this file are this with one mistake each.

import Dispatch
import Vow

enum LoginError: Error { case refused }
private enum LibraryAware: PromiseFailure {
    case library

    init(promiseError _: any Error) { self = .library }
}

private final class Settings: Sendable {
    let name = "settings"
}

@MainActor private final class Screen {
    var text = ""

    func show(_ promise: Promise<String, Never>) {
        let screen = self
        let main = PromiseExecutor.mainActor
        promise.onSuccess(on: main) { text in MainActor.assumeIsolated { screen.text = text } }
        promise.onSuccess(on: .main) { self.text = $0 }.done(on: .mainActor, self.write)
        // Inherits the actor, as `Task { … }` does.
        let shown = Promise { self.text = await promise.value }
        shown.onComplete { _ in }
        // So do handlers.
        promise.onSuccess { self.text = $0 }.done(self.write)
        promise.done { text in
            await Task.yield()
            self.text = text
        }
    }

    func write(_ text: String) { self.text = text }

    func load(_ promise: Promise<Int, any Error>) {
        promise.then { $0 + 1 }.catch { _ in }
        promise.map(on: .pool) { "\($0)" }.cauterize()
    }
}

private actor Ledger {
    var lines: [String] = []

    func follow(_ promise: Promise<String, Never>) {
        promise.onSuccess(on: .actor(self)) { line in self.assumeIsolated { $0.lines.append(line) }
        }
        promise.onSuccess { self.lines.append($0) }
    }
}

private func write(_ promise: Promise<String, any Error>, to ledger: Ledger, _ screen: Screen) {
    promise
        .get(isolatedTo: ledger) { $0.lines.append($1) }
        .done { @MainActor in screen.text = $0 }
        .catch { error in await print(ledger.lines.count, error) }
}

/// One expression, in which the compiler finds each link's types before it looks into most of the closures.
private func longChain(
    _ promise: Promise<Int, any Error>, _ add: @escaping @Sendable (Int, Int) async throws -> Int
) -> Promise<Int, any Error> {
    promise
        .map { try await add($0, 1) }
        .map { try await add($0, 2) }
        .map { try await add($0, 3) }
        .map { try await add($0, 4) }
        .map { try await add($0, 5) }
        .map { try await add($0, 6) }
        .map { try await add($0, 7) }
        .map { try await add($0, 8) }
}

func captures(_ promise: Promise<Int, any Error>) {
    let settings = Settings()
    promise.then { "\($0) \(settings.name)" }.catch { _ in }
    DispatchQueue.global().promise { settings.name }.onSuccess { _ in }
}

func typed(_ promise: Promise<Int, any Error>) -> Promise<Int, any Error> {
    let typed = Promise<Int, LoginError>.value(1).map { number throws(LoginError) in
        if number < 0 { throw .refused }
        return number
    }
    Promise<Int, LibraryAware>.value(1).cancel()
    // A handler of what cannot fail: allowed, and never called.
    Guarantee.value(1).catch { _ in }
    promise.cancel()
    return typed.eraseFailure()
}

func awaited(_ promise: Promise<Int, LoginError>) async throws(LoginError) -> Int {
    for await (_, result) in [promise].completions { _ = result }
    return try await promise.value + Guarantee.value(1).value
}
