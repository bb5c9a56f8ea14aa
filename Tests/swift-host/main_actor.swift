// Gives closures written in @MainActor code to libvow, which runs them on worker threads.
//
// Expected: it compiles, prints one line that begins with "ok" and ends with 0. The header marks
// every callback parameter as @Sendable, so such a closure is not isolated to the main actor,
// however the code around it is. Without the mark the compiler would isolate it silently and put a
// check into it that aborts the program when a worker thread calls it. A compiler that refuses this
// file with an error about isolation would be right too; an abort never is.
//
// Build: swiftc -parse-as-library -I include -L lib -lvow main_actor.swift -o main_actor

import CVow
import Glibc

@MainActor
final class Screen {
    var shown = ""

    /// Links written as closures inside a main-actor method, run on the pool.
    func load() -> Int64 {
        var promise = vow_promise_with(vow_int(20))
        promise = vow_then(promise, { input, _ in vow_int(input.as.integer + worker()) }, nil)
        promise = vow_then(promise, { _, _ in vow_error("screen", 21, "on purpose") }, nil)
        promise = vow_catch(promise, { error, _ in vow_int(vow_error_code(error)) }, nil)
        promise = vow_finally(promise, { _, _ in vow_int(worker()) }, nil)
        return result(of: promise)
    }

    func start() -> Int64 {
        result(of: vow_async(vow_executor_pool(), { _, _ in vow_int(worker()) }, nil))
    }

    /// A closure in a reaction, which is a struct's field and not a parameter.
    func react() -> Int64 {
        var reaction = vow_reaction()
        reaction.size = MemoryLayout<vow_reaction>.size
        reaction.on_fulfilled = addWorker
        reaction.executor = vow_executor_pool()
        return result(of: vow_then_with(vow_promise_with(vow_int(1)), &reaction))
    }

    /// The hook for unhandled rejections, called on a worker thread.
    func report() -> Int32 {
        vow_on_unhandled({ error, _ in reported.pointee += Int32(vow_error_code(error)) }, nil)
        vow_promise_release(
            vow_async(vow_executor_pool(), { _, _ in vow_error("screen", 5, nil) }, nil))
        for _ in 0..<5000 where leftAlive() > 0 { usleep(1000) }
        vow_on_unhandled(nil, nil)
        return reported.pointee
    }
}

/// A number that the hook writes and main reads after the promise is gone.
nonisolated(unsafe) let reported = {
    let place = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    place.initialize(to: 0)
    return place
}()

let mainThread = pthread_self()

/// 1 on a worker thread, 0 on the main one.
func worker() -> Int64 {
    pthread_equal(pthread_self(), mainThread) == 0 ? 1 : 0
}

let addWorker: vow_handler = { input, _ in vow_int(input.as.integer + worker()) }

/// How many promises live, as the library counts them.
func leftAlive() -> UInt64 {
    var numbers = vow_statistics()
    numbers.size = MemoryLayout<vow_statistics>.size
    return vow_stats(&numbers) == 0 ? numbers.live : .max
}

/// Waits for a promise (consumed): its number, or -1.
func result(of promise: OpaquePointer) -> Int64 {
    var out = vow_none()
    let state = vow_await(promise, 60_000_000_000, &out)
    vow_promise_release(promise)
    return state == 1 ? out.as.integer : -1
}

func require(_ actual: Int64, _ expected: Int64, _ what: String) {
    if actual != expected {
        print("not ok \(what) gives \(actual), not \(expected)")
        exit(1)
    }
}

@main
struct MainActorProgram {
    @MainActor
    static func main() {
        let screen = Screen()
        require(worker(), 0, "the main thread")
        require(screen.load(), 21, "a chain of closures")
        require(screen.start(), 1, "an async closure on a worker thread")
        require(screen.react(), 2, "a reaction")
        require(Int64(screen.report()), 5, "the hook")
        require(Int64(leftAlive()), 0, "the number of promises left")
        print("ok closures written on the main actor run on worker threads")
    }
}
