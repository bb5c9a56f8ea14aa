// What is large travels as it is, and what is small travels with its type.

//: ten maps of ten megabytes of bytes make no copy
//= true
let bytes = [UInt8](repeating: 7, count: 10 << 20)
var link = Promise<[UInt8], any Error>.value(bytes)
for _ in 0..<10 { link = link.map { $0 } }
let there = try link.wait().withUnsafeBufferPointer { $0.baseAddress.map(Int.init(bitPattern:)) }
print(there == bytes.withUnsafeBufferPointer { $0.baseAddress.map(Int.init(bitPattern:)) })

//: ten maps of ten thousand numbers make no copy
//= true
let numbers = Array(0..<10_000)
var link = Promise<[Int], any Error>.value(numbers)
for _ in 0..<10 { link = link.map { $0 } }
let there = try link.wait().withUnsafeBufferPointer { $0.baseAddress.map(Int.init(bitPattern:)) }
print(there == numbers.withUnsafeBufferPointer { $0.baseAddress.map(Int.init(bitPattern:)) })

//: ten maps of a long text make no copy
//= true
let text = String(repeating: "a long text", count: 10_000)
var link = Promise<String, any Error>.value(text)
for _ in 0..<10 { link = link.map { $0 } }
var (one, other) = (try link.wait(), text)
let there = one.withUTF8 { $0.baseAddress.map(Int.init(bitPattern:)) }
print(there == other.withUTF8 { $0.baseAddress.map(Int.init(bitPattern:)) })

//: a context of one small type is none of another
//= nil first
enum Ten: Sendable { case first, b, c, d, e, f, g, h, i, j }
enum Two: Sendable { case first, second }
PromiseContext.with(Ten.first) {
    let two: Two? = PromiseContext.current()
    print(two.map { "\($0)" } ?? "nil", PromiseContext.current(as: Ten.self).map { "\($0)" } ?? "")
}

//: a context that is a type is not read as another type
//= nil
PromiseContext.with(Int.self as Int.Type) {
    print(PromiseContext.current(as: String.Type.self).map { "\($0)" } ?? "nil")
}

//: the reason of a token is of its type
//= nil 3
let source = CancellationSource()
source.cancel(reason: UInt8(3))
print(
    source.token.reason(as: Bool.self).map { "\($0)" } ?? "nil",
    source.token.reason(as: UInt8.self) ?? 0)

//: a promise that C has seen is of its type
//= failed
let pointer = Promise<[Int], any Error>.value([1]).makeCPromise()
let wrong = Promise<Bool, any Error>(taking: pointer)
do { print(try wrong.wait()) } catch { print("failed") }

//: a tuple is one value, an optional another
//= (1, "a") nil
let pair: Promise<(Int, String), any Error> = .value((1, "a"))
print(try pair.wait(), try Promise<Int?, any Error>.value(nil).wait().map { "\($0)" } ?? "nil")

//: an error that is a value stays a value
//= refused
print(try Promise<any Error, any Error>.value(MyErr.refused).wait())

//: an error is found again as it was
//= true
let failed = step().map { _ -> Int in throw MyErr.offline }
do { _ = try failed.wait() } catch { print(error as? MyErr == .offline) }

//: the text of an error that is recovered from is never made
//= 5 0
let recovered = step().map { _ -> Int in throw Talkative() }.map { $0 + 1 }.recover { _ in 5 }
print(try recovered.wait(), Talkative.made.withLock { $0 })

//: a context must be Sendable
//! 'Settings' does not conform to the 'Sendable' protocol
PromiseContext.with(Settings()) {}

//: a value of C is read as a type that is named
//! generic parameter 'Success' could not be inferred
let pointer = step().makeCPromise()
let promise = Promise(taking: pointer, as: nil)
print(promise)
