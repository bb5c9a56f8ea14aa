// Words of other libraries that were missing.

//: an iterator is asked for what there is room for
//= true
let asked = Lines()
let (gate, resolver) = Promise<Int, any Error>.pending()
let numbers = (0..<100_000).lazy.map { number -> Int in
    asked.write("\(number)")
    return number
}
let all = Promise.map(numbers, concurrency: 2) { _ in gate }
resolver.reject(MyErr.offline)
do { print(try all.wait().count) } catch { print(asked.text.count < 40) }

//: what is cauterized is told to who asks
//= refused
let told = Promise<String, any Error>.pending()
UnhandledRejections.setCauterized { error, _, _ in told.resolver.fulfill("\(error)") }
save().cauterize()
print(try told.promise.wait())
UnhandledRejections.setCauterized(nil)

//: a continuation gets the result
//= failed
print(try save().transform { result in (try? result.get()) == nil ? "failed" : "saved" }.wait())

//: a find that skips failures
//= 2
let failed = Promise<Int, any Error>.failure(MyErr.offline)
print(try Promise.find(fulfilledIn: [failed, .value(2)]) { $0 > 1 }.wait() ?? 0)

//: nil is replaced
//= 4
print(try Promise<Int?, any Error>.value(nil).unwrap(orReplace: 4).wait())

//: a hop is said by the link
//= true
let loop = try PromiseLoop()
let there = step().map(on: loop.executor) { _ in PromiseExecutor.current == loop.executor }
print(try loop.run(until: there))

//: a bounded map over an asynchronous sequence
//= /a /b /c
let paths = AsyncStream<String> { stream in
    for path in ["/a", "/b", "/c"] { stream.yield(path) }
    stream.finish()
}
let lines = Lines()
for try await page in paths.promises(concurrency: 2, fetch) { lines.write(page) }
print(lines.text)

//: time by any clock
//= timedOut
let (never, resolver) = Promise<Int, any Error>.pending()
do {
    print(try never.timeout(.milliseconds(1), clock: SuspendingClock()).wait())
} catch PromiseError.timedOut { print("timedOut") }
resolver.fulfill(1)

//: a loop is the executor of an actor
//= 7
actor Session {
    let loop: PromiseLoop
    init(_ loop: PromiseLoop) { self.loop = loop }
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    func answer() -> Int { 7 }
}
let loop = try PromiseLoop()
let session = Session(loop)
let answer = Promise { await session.answer() }
let run: () throws -> Int = { try loop.run(until: answer) }
print(try run())

//: a loop runs on behind the end of the library, and with it the actors on it
//= 7
actor Session {
    let loop: PromiseLoop
    init(_ loop: PromiseLoop) { self.loop = loop }
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    func answer() -> Int { 7 }
}
let loop = try PromiseLoop()
let session = Session(loop)
try PromiseRuntime.shutDown(timeout: .seconds(10))
let answer = Promise { await session.answer() }
let run: () throws -> Int = { try loop.run(until: answer, timeout: .seconds(60)) }
print(try run())

//: a scope joins a task with promises
//= 3
let sum = try await withPromiseScope { scope in
    let one = scope.start { 1 }
    let two = scope.start { load(2).eraseFailure() }
    return try await one.value + two.value
}
print(sum)

//: promises as they settle
//= 2
var count = 0
for await (_, result) in Promise.completions(of: [step(), step()]) where (try? result.get()) == 1 {
    count += 1
}
print(count)
