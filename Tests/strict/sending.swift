// The ways to send what is not Sendable, each of which is refused.

//: captured by a handler
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().done { _ in settings.name = "changed" }

//: captured by a handler on an executor
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().done(on: .pool) { _ in settings.name = "changed" }

//: captured by an asynchronous handler
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().done { _ in
    await Task.yield()
    settings.name = "changed"
}

//: captured by an observer
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().onComplete { _ in settings.name = "changed" }

//: captured by clean-up
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().finally { settings.name = "changed" }.cauterize()

//: captured by the end of a chain
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
save().catch { _ in settings.name = "changed" }

//: captured by work on the pool
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
Promise(on: .pool) { settings.name = "changed" }.cauterize()

//: captured by work on a queue
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
DispatchQueue.global().promise { settings.name }.cauterize()

//: captured by a task that is a promise, and used behind it
//! sending
let settings = Settings()
let promise = Promise { settings.name = "task" }
settings.name = "here"
promise.cauterize()

//: captured by a member of a scope
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
PromiseScope().start { settings.name }.cauterize()

//: captured by what is called on cancellation
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
_ = CancellationSource().token.onCancel { settings.name = "changed" }

//: captured by what a producer is told
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
_ = Promise<Int, any Error>.pending().resolver.onCancel { settings.name = "changed" }

//: captured by cold work
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
_ = Async<String> { resolver in resolver.fulfill(settings.name) }

//: captured by an action
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
_ = Action { (number: Int) in settings.name + "\(number)" }

//: captured by what is tried again
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
Promise.retry { _ in fetch(settings.name) }.cauterize()

//: captured by what is called for each item
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
Promise.map([1, 2]) { _ in fetch(settings.name) }.cauterize()

//: captured by what hears of progress
//! capture of 'settings' with non-Sendable type 'Settings' in a '@Sendable' closure
let settings = Settings()
step().onProgress { _, note in settings.name = note ?? "" }

//: as the value of a promise
//! type 'Settings' does not conform to the 'Sendable' protocol
_ = Promise<Settings, any Error>.value(Settings())

//: as the result of a handler
//! type 'Settings' does not conform to the 'Sendable' protocol
_ = step().map { _ in Settings() }

//: as the result of a task
//! type 'Settings' does not conform to the 'Sendable' protocol
_ = Promise {
    await Task.yield(); return Settings()
}

//: as an item
//! type 'Settings' does not conform to the 'Sendable' protocol
Promise.map([Settings()]) { _ in step() }.cauterize()

//: as the reason of a cancellation
//! type 'Settings' does not conform to the 'Sendable' protocol
CancellationSource().cancel(reason: Settings())

//: as a context
//! type 'Settings' does not conform to the 'Sendable' protocol
PromiseContext.set(Settings())
