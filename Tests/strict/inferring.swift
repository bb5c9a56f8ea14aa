// Types are found where they stand: typed failures as well as any error.

//: firstly of a typed promise
//= 1
let begun: Promise<Int, MyErr> = firstly { load(1) }
print(try begun.wait())

//: firstly of a typed promise, and its failure further on
//= refused
try firstly { save() }.catch { (error: MyErr) in print(error) }.wait()

//: attempt of a typed promise
//= 2
let attempted: Promise<Int, any Error> = Promise.attempt { load(2) }
print(try attempted.wait())

//: retry of a typed promise
//= 1
let retried: Promise<Int, MyErr> = Promise<Int, MyErr>.retry { load($0) }
print(try retried.wait())

//: a typed promise for each item
//= [1, 2, 3]
let mapped: Promise<[Int], MyErr> = Promise.map([1, 2, 3], concurrency: 2) { load($0) }
print(try mapped.wait())

//: all of an array, and a map behind it
//= 3
print(try Promise.all([load(1), load(2)]).map { $0[0] + $0[1] }.wait())

//: all of different types
//= (1, "/")
print(try Promise.all(step(), fetch("/")).wait())

//: a dictionary keeps its keys
//= 2
print(try Promise.all(["a": load(1), "b": load(2)]).wait()["b"] ?? 0)

//: allSettled of typed promises has typed results
//= true
let results: Guarantee<[Result<Void, MyErr>]> = Promise.allSettled([save()])
print(try results.wait()[0].map { "saved" } == .failure(.refused))

//: race and any of promises that are written out
//= 1 2
print(try Promise.race(load(1), load(1)).wait(), try Promise.any(load(2), load(2)).wait())

//: reduce and find of promises that are written out
//= 3 2
print(
    try Promise.reduce([step(), .value(2)], 0) { $0 + $1 }.wait(),
    try Promise.find(in: [step(), .value(2)]) { $0 > 1 }.wait() ?? 0)

//: a function's name is a closure, a key path, too
//= 1
print(try fetch("/").then(fetch).map(\.count).wait())

//: work on the pool, of a value and of a promise
//= 1 2
let (value, promise) = (Promise(on: .pool) { 1 }, Promise(on: .pool) { load(2) })
print(try value.wait(), try promise.wait())

//: a typed throw keeps its type
//= refused
let typed: Promise<Int, MyErr> = load(1).map { number throws(MyErr) in
    if number == 1 { throw .refused }
    return number
}
do { print(try typed.wait()) } catch { print(error) }

//: a chain of ten links is one expression
//= 11
let sum = step().map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.then { sure($0 + 1) }
    .get { _ in }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.finally {}.map { $0 + 3 }
print(try sum.wait())

//: six links of each kind in one expression, synchronous
//= 7 7 7 7 x
let six = step().map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map {
    $0 + 1
}
let joined = step().then { sure($0 + 1) }.then { sure($0 + 1) }.then { sure($0 + 1) }.then {
    sure($0 + 1)
}
.then { sure($0 + 1) }.then { sure($0 + 1) }
let typed = load(1).map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.then { load($0 + 1) }.then {
    load($0 + 1)
}
.then { load($0 + 1) }
let never = sure(1).map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.then { sure($0 + 1) }.then {
    sure($0 + 1)
}
.then { sure($0 + 1) }
let others = fetch("x").get { _ in }.tap { _ in }.finally {}.recover { throw $0 }.filter {
    $0.count > 0
}
.compactMap { $0.isEmpty ? nil : $0 }.transform { try $0.get() }
print(try six.wait(), try joined.wait(), try typed.wait(), try never.wait(), try others.wait())

//: six asynchronous links of each kind in one expression
//= 7 7
let six = step().map { await plusOne($0) }.map { await plusOne($0) }.map { await plusOne($0) }.map {
    await plusOne($0)
}
.map { await plusOne($0) }.map { await plusOne($0) }
let joined = step().then { sure(await plusOne($0)) }.then { sure(await plusOne($0)) }.then {
    sure(await plusOne($0))
}
.then { sure(await plusOne($0)) }.then { sure(await plusOne($0)) }.then { sure(await plusOne($0)) }
print(try await six.value, try await joined.value)

//: another error than the typed one is not thrown
//! thrown expression type 'OtherErr' cannot be converted to error type 'MyErr'
_ = load(1).map { number throws(MyErr) -> Int in throw OtherErr.other }

//: a resolver takes its own failure
//! cannot convert value of type 'OtherErr' to expected argument type 'MyErr'
Promise<Int, MyErr>.pending().resolver.reject(OtherErr.other)

//: a resolver takes its own value
//! cannot convert value of type 'String' to expected argument type 'Int'
Promise<Int, any Error>.pending().resolver.fulfill("1")

//: all of different failures says what to do with them
//! cannot convert value of type 'Promise<Int, MyErr>' to expected argument type 'Promise<Int, any Error>'
print(Promise.all(step(), load(1)))
