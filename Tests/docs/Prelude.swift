// What the snippets of the documentation take for granted: a program of the reader's.

import Dispatch
import CVow
import Vow

struct User: Sendable { let name: String }
struct Avatar: Sendable { let size: Int }
enum LoginError: PromiseFailure, Equatable {
    case refused, offline, promise

    init(promiseError _: any Error) { self = .promise }
}

func logIn(_ name: String) -> Promise<User, any Error> { .value(User(name: name)) }
func fetchAvatar(of _: User) -> Promise<Avatar, any Error> { .value(Avatar(size: 1)) }
func fetchPage(_ path: String) -> Promise<String, any Error> { .value(path) }
func download(_ path: String) async throws -> String { path }
func checkName(_ name: String) throws -> String { name }
func parse(_ text: String) throws -> Int { Int(text) ?? 0 }
func expensiveDigest(of text: String) -> Int { text.count }

/// An interface of the old kind.
struct Legacy: Sendable {
    struct Request: Sendable { func stop() {} }

    func measure(_ callback: @escaping @Sendable (Int?, (any Error)?) -> Void) {}
    func save(_ callback: @escaping @Sendable ((any Error)?) -> Void) {}
    func askForName(_ callback: @escaping @Sendable (String) -> Void) {}
    func get(_ path: String, _ callback: @escaping @Sendable (String) -> Void) {}
    func fetch(
        _ path: String = "/", _ callback: @escaping @Sendable (String?, (any Error)?) -> Void
    ) -> Request { Request() }
}
let legacy = Legacy()

final class Dialog { var onButton: (Bool) -> Void = { _ in } }
nonisolated(unsafe) let dialog = Dialog()
