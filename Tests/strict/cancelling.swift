// What compiles does not end the process by a user's cancel, a lost resolver or a loop that ended.

//: a guarantee with a token fails by cancellation
//= CancellationError()
let (pending, resolver) = Guarantee<Int>.pending(orElse: 0)
let source = CancellationSource()
let link: Promise<Int, CancellationError> = pending.cancelled(by: source.token).map { $0 + 1 }
source.cancel()
do { print(try link.wait()) } catch { print(error) }
resolver.fulfill(1)

//: a guarantee whose resolver is lost comes to its other value
//= 7
let lost = { Guarantee<Int>.pending(orElse: 7).promise }()
print(await lost.value)

//: a typed promise whose resolver is lost comes to its handlers
//= finally caught library end
let lines = Lines()
let lost = Promise<Int, MyErr> { _ in }
try lost.finally { lines.write("finally") }.catch { lines.write("caught \($0)") }
    .finally { lines.write("end") }.wait()
print(lines.text)

//: a guarantee is left alone when what is derived from it is cancelled
//= 1
let (pending, resolver) = Guarantee<Int>.pending(orElse: 0)
let derived = pending.eraseFailure().map { $0 + 1 }
derived.cancel()
resolver.fulfill(1)
print(await pending.value)

//: a promise that nobody could end is not made
//! it could not say that it was cancelled or lost
print(Promise<Int, Plain>.pending())

//: nor one with a body
//! it could not say that it was cancelled or lost
print(Promise<Int, Plain> { _ in })

//: nor a link of one with a token
//! no exact matches in call to instance method 'map'
func link(_ promise: Promise<Int, Plain>) {
    _ = promise.map(cancelledBy: CancellationSource().token) { $0 }
}

//: nor is a guarantee pending without another value
//! it could not say that it was cancelled or lost
print(Guarantee<Int>.pending())

//: a failure type that takes the library's own failures in may be cancelled
//= library
let (promise, resolver) = Promise<Int, Aware>.pending()
promise.cancel()
try promise.map { _ in }.catch { print($0) }.wait()
resolver.fulfill(1)

//: a typed link with a token that is cancelled ends its chain
//= library
//= end
let (promise, resolver) = Promise<Int, MyErr>.pending()
let source = CancellationSource()
let end = promise.map(cancelledBy: source.token) { $0 + 1 }.catch { print($0) }
    .finally { print("end") }
source.cancel()
_ = try? end.wait()
resolver.fulfill(1)

//: what a loop that ended has not run is rejected, and nothing crashes
//= shutDown
var loop: PromiseLoop? = try PromiseLoop()
let executor = loop!.executor
loop = nil
do {
    try Promise<Int, any Error>(on: executor) { 1 }.done { print($0) }.wait()
} catch PromiseError.shutDown { print("shutDown") }

//: a source that is linked to a token is cancelled with it, though only its token is kept
//= true
let source = CancellationSource()
let token = CancellationSource(linkedTo: [source.token]).token
source.cancel()
print(token.isCancelled)

//: cancelling after the result has no effect on observers, wherever they run
//= success(1)
let source = CancellationSource()
let gate = DispatchQueue(label: "gate")
gate.suspend()
let seen = Promise<Int, any Error>.pending()
step().onComplete(on: .queue(gate), cancelledBy: source.token) {
    print($0)
    seen.resolver.fulfill(1)
}
source.cancel()
gate.resume()
_ = try seen.promise.wait()

//: cancelling goes upstream to the work, which nobody else has, and its producer is told
//= stopped
//= CancellationError()
let kept = Mutex<PromiseResolver<Int, any Error>?>(nil)
let link = Promise<Int, any Error> { resolver in
    resolver.onCancel { print("stopped") }
    kept.withLock { $0 = resolver }
}.map { $0 + 1 }
link.cancel()
do { print(try link.wait()) } catch { print(error) }

//: of two tokens joined by && the last cancels, of || the first
//= false true
let (one, other) = (CancellationSource(), CancellationSource())
one.cancel()
print((one.token && other.token).isCancelled, (one.token || other.token).isCancelled)

//: a catch by policy is not told of cancellation, also of a library's own
//= done
let stopped = Promise<Int, any Error>.failure(TransferError.stopped)
try stopped.asVoid().catch(policy: .allErrorsExceptCancellation) { print($0) }.wait()
print("done")

//: a recover by policy goes on after other errors
//= 9
let lost = Promise<Int, any Error>.failure(TransferError.lost)
print(try lost.recover(policy: .allErrorsExceptCancellation) { _ in 9 }.wait())

//: URLError.cancelled is a cancellation
//= true
let stopped = Promise<Int, any Error>.failure(URLError(.cancelled))
let recovered = stopped.recover(policy: .allErrorsExceptCancellation) { _ in 9 }
do { print(try recovered.wait()) } catch { print(error is URLError) }

//: a guarantee is not cancelled
//! no exact matches in call to instance method 'cancel'
sure(1).cancel()

//: a promise of an ordinary failure is not cancelled
//! no exact matches in call to instance method 'cancel'
func end(_ promise: Promise<Int, Plain>) { promise.cancel() }

//: a guarantee's link with a token is no guarantee
//! cannot assign value of type 'Promise<Int, CancellationError>' to type 'Guarantee<Int>'
let link = sure(1).cancelled(by: CancellationSource().token)
let never: Guarantee<Int> = link
print(never)

//: a guarantee is not rejected
//! cannot convert value of type 'MyErr' to expected argument type 'Never'
Guarantee<Int>.pending(orElse: 0).resolver.reject(MyErr.refused)

//: a closure of a guarantee does not throw
//! invalid conversion from throwing function
_ = sure(1).map { number -> Int in throw MyErr.refused }

//: a time-out makes no guarantee and no ordinary failure
//! no exact matches in call to instance method 'timeout'
let limited: Guarantee<Int> = sure(1).timeout(.seconds(1))
print(limited)

//: a scope takes no promise whose failure cannot say that it was cancelled
//! cancelled, its failure could not say so
let (guarantee, _) = Guarantee<Int>.pending(orElse: 0)
let scope = PromiseScope()
scope.add(guarantee)

//: a scope takes a guarantee's promise of any error, and the guarantee's readers go on
//= 1
//= CancellationError()
let (guarantee, resolver) = Guarantee<Int>.pending(orElse: 0)
let scope = PromiseScope()
let member = guarantee.eraseFailure()
scope.add(member)
scope.cancel()
resolver.fulfill(1)
print(await guarantee.value)
do { print(try await member.value) } catch { print(error) }
