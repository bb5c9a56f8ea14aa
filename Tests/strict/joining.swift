// A promise that a closure makes is waited for, whatever its failure is: no chain succeeds that has failed.

//: then with a promise of another failure fails the chain
//= caught refused
try step().then { _ in save() }.done { print("saved!") }.catch { print("caught \($0)") }.wait()

//: then with a promise of another failure is a promise of any error
//= caught refused
let saved: Promise<Void, any Error> = step().then { _ in save() }
try saved.catch { print("caught \($0)") }.wait()

//: behind a guarantee the failure is the other's
//= refused
let saved: Promise<Void, MyErr> = firstly { sure(1) }.then { _ in save() }
try saved.catch { (error: MyErr) in print(error) }.wait()

//: a guarantee behind a promise that may fail is waited for
//= 3
let sum: Promise<Int, any Error> = step().then { sure($0 + 2) }
print(try sum.wait())

//: a guarantee behind a typed failure is said to have that
//= 3
let sum: Promise<Int, MyErr> = load(1).then { sure($0 + 2).setFailureType(to: MyErr.self) }
print(try sum.wait())

//: finally waits for a guarantee
//= pending
//= 1
let (closed, resolver) = Guarantee<Void>.pending(orElse: ())
let ended = step().finally { closed }
print(ended.state)
resolver.fulfill()
print(try ended.wait())

//: finally fails with a promise of another failure
//= refused
let ended: Promise<Int, any Error> = step().finally { save() }
do { print(try ended.wait()) } catch { print(error) }

//: recover with a promise of another failure has that failure
//= other
let recovered: Promise<Int, OtherErr> = load(1).then { _ in Promise<Int, MyErr>.failure(.offline) }
    .recover { _ in Promise<Int, OtherErr>.failure(.other) }
do { print(try recovered.wait()) } catch { print(error) }

//: recover with a guarantee cannot fail
//= 7
let recovered: Guarantee<Int> = Promise<Int, MyErr>.failure(.offline).recover { _ in sure(7) }
try recovered.done { print($0) }.wait()

//: transform with a promise of another failure waits for it
//= other
let other = step().transform { _ in Promise<Int, OtherErr>.failure(.other) }
do { print(try other.wait()) } catch { print(error) }

//: map of items with promises of another failure fails the chain
//= refused
let all = Promise<[Int], any Error>.value([1, 2]).then { Promise.map($0) { _ in save() } }
do { print(try all.wait()) } catch { print(error) }

//: retry waits for promises of a typed failure
//= 2
print(try Promise.retry(RetryPolicy(attempts: 2)) { attempt in load(attempt + 1) }.wait())

//: an action of a typed promise is one of its value
//= 4
let next = Action { (number: Int) in load(number + 1) }
print(try next(3).wait())

//: an asynchronous closure may make a promise, too
//= caught refused
let saved = step().then { _ in
    await Task.yield()
    return save()
}
try await saved.map { "\($0)" }.recover { "caught \($0)" }.done { print($0) }.value

//: so may one behind a guarantee, and its failure is the promise's
//= refused
let saved: Promise<Void, MyErr> = sure(1).then { _ in
    await Task.yield()
    return save()
}
await saved.catch { print($0) }.value

//: an asynchronous use waits for the promise that it makes before it releases
//= pending
//= page released
let (page, resolver) = Promise<String, any Error>.pending()
let lines = Lines()
let used: Promise<Void, any Error> = step().using { (_: Int) in
    await Task.yield()
    return page.done { lines.write($0) }
} release: { _ in
    lines.write("released")
}
print(used.state)
resolver.fulfill("page")
try await used.value
print(lines.text)

//: a promise of promises is there for who asks for it
//= 5
let nested: Promise<Promise<Int, MyErr>, any Error> = .value(load(5))
print(try nested.then { $0 }.wait())

//: a typed chain is no chain of another type
//! cannot assign value of type 'Promise<Void, any Error>' to type 'Promise<Void, MyErr>'
let saved = step().then { _ in save() }
let typed: Promise<Void, MyErr> = saved
print(typed)

//: a failure that may come makes no guarantee
//! cannot assign value of type 'Promise<Int, MyErr>' to type 'Guarantee<Int>'
let sum = sure(1).then { load($0) }
let never: Guarantee<Int> = sum
print(never)
