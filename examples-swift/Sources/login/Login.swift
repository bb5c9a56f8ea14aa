// Logging in, as a pipeline: what the form holds -> network -> parser, and what renders the answer is bound to the end
// of it. Each stage is an asynchronous function by itself; the pipeline is one as well, and is called once per tap.

import Dispatch
import Synchronization
import Vow
import VowOperators

struct Credentials: Sendable { let name: String, password: String }
struct Response: Sendable { let status: Int, body: String }
struct Session: Sendable { let user: String, token: String }

enum LoginError: Error {
    case refused(status: Int)
    case unreadable(String)
}

/// The form, as far as a program without a screen has one.
final class Form: Sendable {
    private let credentials = Mutex<Credentials?>(nil)

    func fill(in name: String, _ password: String) {
        credentials.withLock { $0 = Credentials(name: name, password: password) }
    }

    /// Calls back with what was typed in; with nothing typed in, not at all.
    func read(_ completion: @Sendable (Credentials) -> Void) {
        if let filledIn = credentials.withLock({ $0 }) { completion(filledIn) }
    }
}

/// A network of the old kind: it answers to a callback, on a queue of its own.
enum Network {
    static func send(
        _ credentials: Credentials, _ completion: @escaping @Sendable (Response) -> Void
    ) {
        DispatchQueue.global().async {
            let isRight = credentials.password == "open sesame"
            completion(
                isRight
                    ? Response(status: 200, body: "\(credentials.name):t-4711")
                    : Response(status: 403, body: ""))
        }
    }
}

let form = Form()

let fetchLogin = Action<Void, Credentials> { _, completion in form.read(completion) }

let network = Action<Credentials, Response> { credentials, completion in
    Network.send(credentials, completion)
}

let parser = Action<Response, Session> { (response: Response) in
    if response.status != 200 { throw LoginError.refused(status: response.status) }
    let parts = response.body.split(separator: ":")
    guard parts.count == 2 else { throw LoginError.unreadable(response.body) }
    return Session(user: String(parts[0]), token: String(parts[1]))
}

let login = fetchLogin >- network >- parser

@Sendable func render(_ session: Session) { print("welcome, \(session.user) (\(session.token))") }

@main
enum Login {
    static func main() throws {
        // The request and its answer, taken apart: bound once, fired at every tap.
        let answered = DispatchSemaphore(value: 0)
        let tap =
            login <- { session in
                render(session)
                answered.signal()
            }
        form.fill(in: "ali", "open sesame")
        for _ in 1...2 {
            tap(())
            answered.wait()
        }

        // The same pipeline as a promise, which also knows about failures.
        form.fill(in: "cassim", "open barley")
        try login { render($0) }.catch { print("not logged in: \($0)") }.wait()

        // A form that nobody has filled in never calls back. That is no silence here.
        let empty = Form()
        let unfilled = Action<Void, Credentials> { _, completion in empty.read(completion) }
        try (unfilled >- network >- parser)().catch { print("not logged in: \($0)") }.wait()
    }
}
