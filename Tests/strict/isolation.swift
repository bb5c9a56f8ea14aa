// A handler runs where it was written, and the compiler knows it.

//: a closure of the main actor's touches its state
//= written
let screen = Screen()
try await fetch("written").done { @MainActor in screen.title = $0 }.value
print(await screen.shown())

//: so does one in a class of the main actor
//= written
@MainActor final class View {
    var title = ""
    func show(_ page: Promise<String, any Error>) -> Promise<Void, any Error> {
        page.done { self.title = $0 }
    }
}
let view = View()
try await view.show(fetch("written")).value
print(await view.title)

//: an asynchronous closure awaits an actor
//= 1
let ledger = Ledger()
try await step().done { await ledger.write($0) }.value
print(await ledger.count())

//: a method of the main actor's is a handler as it stands
//= written
let screen = Screen()
_ = await MainActor.run { fetch("written").done(screen.show) }.settled
print(await screen.shown())

//: in an actor a closure touches its state
//= [1]
actor Register {
    var lines: [Int] = []
    func follow(_ promise: Promise<Int, any Error>) -> Promise<Void, any Error> {
        promise.done { self.lines.append($0) }
    }
}
let register = Register()
try await register.follow(step()).value
print(await register.lines)

//: map may await
//= 2
print(try await step().map { await plusOne($0) }.value)

//: then, get and done may await
//= 2
//= 3
let end = step().then { sure(await plusOne($0)) }.get { print(await plusOne($0 - 1)) }
try await end.done { print(await plusOne($0)) }.value

//: recover may await
//= 8
let failed = Promise<Int, any Error>.failure(MyErr.offline)
print(try await failed.recover { _ in await plusOne(7) }.value)

//: catch and finally may await
//= refused 1
//= 2
await save().catch { print($0, await plusOne(0)) }.finally { print(await plusOne(1)) }.value

//: using may await, and releases however it ends
//= used released
let lines = Lines()
let used = step().using { (number: Int) in
    await Task.yield()
    lines.write("used")
    return number
} release: { _ in
    lines.write("released")
}
_ = try await used.value
print(lines.text)

//: an asynchronous handler has the task-locals of who attached it
//= ali
let name = Request.$name.withValue("ali") {
    step().map { _ in
        await Task.yield()
        return Request.name
    }
}
print(try await name.value)

//: handlers of the main actor run in the order of their attachment
//= true
let lines = Lines()
let (promise, resolver) = Promise<Int, any Error>.pending()
let all = (0..<200).map { number in
    promise.done(on: .mainActor) { _ in lines.write("\(number)") }
}
resolver.fulfill(1)
_ = try await Promise.all(all).value
print(lines.text == (0..<200).map { "\($0)" }.joined(separator: " "))

//: on: .actor has one order however often the actor is named
//= true
let (lines, ledger) = (Lines(), Ledger())
let (promise, resolver) = Promise<Int, any Error>.pending()
let all = (0..<200).map { number in
    promise.done(on: .actor(ledger)) { _ in lines.write("\(number)") }
}
resolver.fulfill(1)
_ = try await Promise.all(all).value
print(lines.text == (0..<200).map { "\($0)" }.joined(separator: " "))

//: cancelling a link cancels the task of its closure
//= cancelled
let (begun, resolver) = Promise<Void, any Error>.pending()
let slow = step().map { number in
    resolver.fulfill()
    do { try await Task.sleep(for: .seconds(600)) } catch { print("cancelled") }
    return number
}
try await begun.value
slow.cancel()
_ = try? await slow.value

//: elsewhere a closure may not touch the main actor's state
//! main actor-isolated property 'title' can not be mutated from a Sendable closure
@MainActor func show(_ screen: Screen) { fetch("/").done(on: .pool) { screen.title = $0 } }

//: an executor that is a value says nothing to the compiler
//! main actor-isolated property 'title' can not be mutated from a Sendable closure
let main = PromiseExecutor.main
@MainActor func show(_ screen: Screen) { fetch("/").done(on: main) { screen.title = $0 } }

//: on: .actor gives no state
//! actor-isolated
let ledger = Ledger()
step().done(on: .actor(ledger)) { ledger.write($0) }

//: from nowhere an actor's method is awaited
//! actor-isolated
let ledger = Ledger()
step().done { ledger.write($0) }

//: a task does not block
//! instance method 'wait' is unavailable from asynchronous contexts
print(try step().wait())
await Task.yield()

//: a value that may fail is tried
//! property access can throw but is not marked with 'try'
print(await step().value)

//: a value is awaited
//! 'async'
print(try step().value)

//: an actor's method, called from elsewhere
//! call to actor-isolated instance method 'write' in a synchronous
actor Ledger { func write(_ line: Int) {} }

func follow(_ promise: Promise<Int, any Error>, _ ledger: Ledger) {
    promise.done { ledger.write($0) }
}

//: an actor's state, changed by a handler of another place
//! actor-isolated property 'lines' can not be mutated from a Sendable closure
actor Ledger {
    var lines: [String] = []

    func follow(_ promise: Promise<String, Never>) {
        promise.onSuccess(on: .actor(self)) { self.lines.append($0) }
    }
}

//: a result that stays with the main actor
//! type 'Notes' does not conform to the 'Sendable' protocol
final class Notes { var count = 0 }

@MainActor final class Screen {
    let notes = Notes()

    func lend(_ promise: Promise<Int, any Error>) {
        promise.map { _ in self.notes }.cauterize()
    }
}

//: state of the main actor, on the pool
//! main actor-isolated property 'text' can not be referenced from a Sendable closure
@MainActor final class Screen {
    var text = ""

    func show(_ promise: Promise<Int, any Error>) {
        promise.map(on: .pool) { "\($0)" + self.text }.cauterize()
    }
}

//: an actor's items, read lazily
//! sending 'self.numbers' risks causing data races
final class Numbers: Sequence, IteratorProtocol {
    var last = 0

    func next() -> Int? {
        last += 1
        return last
    }
}

@MainActor final class Screen {
    let numbers = Numbers()

    func load() -> Promise<[Int], any Error> { .map(numbers, concurrency: 2) { $0 } }
}

//: state of the main actor, in a handler of elsewhere
//! main actor-isolated property 'text' can not be mutated from a Sendable closure
@MainActor final class Screen {
    var text = ""

    func show(_ promise: Promise<String, Never>) {
        promise.onSuccess(on: PromiseExecutor.main) { self.text = $0 }
    }
}

//: a variable that a handler changes
//! mutation of captured var 'count' in concurrently-executing code
func count(_ promise: Promise<Int, Never>) -> Int {
    var count = 0
    promise.onSuccess { count += $0 }
    return count
}

//: what a task has, changed outside of it
//! sending value of non-Sendable type
final class Settings { var name = "" }

func make() {
    let settings = Settings()
    let promise = Promise { settings.name = "task" }
    settings.name = "here"
    promise.onComplete { _ in }
}

//: a guarantee with a token
//! cannot convert value of type 'Promise<Int, CancellationError>' to expected argument type 'Guarantee<Int>'
func use(_ sure: Guarantee<Int>) {}
func cancel(_ promise: Guarantee<Int>, _ token: CancellationToken) {
    let mapped = promise.cancelled(by: token)
    use(mapped)
}

//: the cancelling value of a guarantee
//! no exact matches in reference to property 'cancellingValue'
func wait(_ promise: Guarantee<Int>) async -> Int { await promise.cancellingValue }

//: cancelling with a failure that has no case for it
//! no exact matches in call to instance method 'cancel'
enum LoginError: Error { case refused }

func cancel(_ promise: Promise<Int, LoginError>) { promise.cancel() }
