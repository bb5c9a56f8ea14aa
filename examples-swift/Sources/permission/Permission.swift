// May it, does it exist already, submit it: what was forty lines of nested callbacks, with an error branch in each, is
// a chain with one end for everything that goes wrong.

import Dispatch
import Vow

enum SubmitError: Error { case notAllowed, exists(String), connectionLost }

/// A service of the old kind: every function has a callback with a value or an error.
struct Service: Sendable {
    var isAllowed = true
    var existing: Set<String> = ["report"]
    var isOnline = true

    func checkPermission(_ callback: @escaping @Sendable (Bool?, (any Error)?) -> Void) {
        answer(isAllowed, callback)
    }

    func checkExistence(
        of name: String, _ callback: @escaping @Sendable (Bool?, (any Error)?) -> Void
    ) {
        answer(existing.contains(name), callback)
    }

    func submit(_ name: String, _ callback: @escaping @Sendable (Int?, (any Error)?) -> Void) {
        answer(name.count, callback)
    }

    private func answer<Value: Sendable>(
        _ value: Value, _ callback: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) {
        DispatchQueue.global().async {
            isOnline ? callback(value, nil) : callback(nil, SubmitError.connectionLost)
        }
    }
}

// The same functions as promises: one line each.
extension Service {
    func mayCreate() -> Promise<Bool, any Error> {
        Promise { resolver in checkPermission { resolver.settle($0, $1) } }
    }

    func exists(_ name: String) -> Promise<Bool, any Error> {
        Promise { resolver in checkExistence(of: name) { resolver.settle($0, $1) } }
    }

    func submitted(_ name: String) -> Promise<Int, any Error> {
        Promise { resolver in submit(name) { resolver.settle($0, $1) } }
    }
}

func create(_ name: String, on service: Service) -> Promise<Void, Never> {
    firstly {
        service.mayCreate()
    }.then { isAllowed in
        if !isAllowed { throw SubmitError.notAllowed }
        return service.exists(name)
    }.then { exists in
        if exists { throw SubmitError.exists(name) }
        return service.submitted(name)
    }.done { number in
        print("\(name): submitted as number \(number)")
    }.catch { error in
        print("\(name): \(error)")
    }.finally {
        print("\(name): the form is closed")
    }
}

@main
enum Permission {
    static func main() throws {
        try create("letter", on: Service()).wait()
        try create("report", on: Service()).wait()
        try create("secret", on: Service(isAllowed: false)).wait()
        try create("memo", on: Service(isOnline: false)).wait()
    }
}
