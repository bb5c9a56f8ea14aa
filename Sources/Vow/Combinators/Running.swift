// Swift's closures as the functions that the core's machines run.

import CVow
import VowCore

/// The questions and steps of a machine, in the object that the machine keeps.
struct Steps: Sendable {
    /// - Returns: the value that resolves the step's promise; owned. The input is borrowed.
    let step: @Sendable (vow_value) -> vow_value
    var isGoingOn: @Sendable (vow_value) -> Bool = { _ in true }

    static let run: vow_handler = { input, context in steps(context).step(input) }
    static let ask: @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool = {
        input, context in steps(context).isGoingOn(input)
    }

    private static func steps(_ context: UnsafeMutableRawPointer?) -> Steps {
        guard let context else { fatalError("a machine has lost its steps") }
        return context.assumingMemoryBound(to: Steps.self).pointee
    }
}

/// A fold's step with two borrowed values; the result is owned.
struct Folding: Sendable {
    let combine: @Sendable (_ accumulated: vow_value, _ item: vow_value) -> vow_value

    static let run: vow_reducer = { accumulated, item, context in
        guard let context else { fatalError("a machine has lost its steps") }
        let folding = context.assumingMemoryBound(to: Folding.self).pointee
        return folding.combine(accumulated, item)
    }
}

/// The promise of a machine that runs these closures. `make` is not called when there is no memory for them.
func running<Closures, Success, Failure>(
    _ closures: Closures, on executor: PromiseExecutor?, _ make: (SwiftCaller) -> OpaquePointer
) -> Promise<Success, Failure> {
    let owner = vow_value.holding(closures)
    guard let context = owner.heldAddress(of: Closures.self) else {
        return Promise(owned: vow_promise_with(owner))
    }
    return PromiseExecutor.withPointer(executor) { executor in
        Promise(owned: make(SwiftCaller(context: context, owner: owner, executor: executor)))
    }
}

extension Promise {
    /// Rejected because of an argument, whether its failure type has a case for that or not.
    static func refused(_ problem: String) -> Promise {
        Promise(owned: vow_promise_with(encodeError(PromiseError.invalidArgument(problem))))
    }
}
