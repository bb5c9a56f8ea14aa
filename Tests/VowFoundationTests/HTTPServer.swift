// A small HTTP server on loopback, with a thread for each connection.

import Foundation
import Vow

/// One request as the server reads it.
struct HTTPRequest {
    let method: String
    let path: String
    let body: [UInt8]
}

/// Answers on 127.0.0.1, on a port of its own. What it does for a path is in `answer`.
final class HTTPServer: Sendable {
    private struct State {
        var requests: [String: Int] = [:]
        var hangUps = 0
        var open: Set<Int32> = []
    }

    private let listener: Int32
    let port: UInt16
    private let state = Guarded(State())

    init() {
        (listener, port) = listenOnLoopback()
        Thread.detachNewThread { self.acceptAll() }
    }

    /// Ends all connections.
    func stop() {
        endSocket(listener)
        for socket in state.withLock({ $0.open }) { endSocket(socket) }
    }

    func url(_ path: String) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
            preconditionFailure("no path: \(path)")
        }
        return url
    }

    /// How many requests for a path have been read.
    func requests(for path: String) -> Int { state.withLock { $0.requests[path] ?? 0 } }

    /// How many clients have closed the connection while they were owed an answer.
    var hangUps: Int { state.withLock { $0.hangUps } }

    func noteHangUp() { state.withLock { $0.hangUps += 1 } }

    /// Connections that are open here.
    var openConnections: Int { state.withLock { $0.open.count } }

    private func acceptAll() {
        while let connection = acceptConnection(listener) {
            state.withLock { _ = $0.open.insert(connection.socket) }
            Thread.detachNewThread { self.serve(connection) }
        }
        closeSocket(listener)
    }

    /// One request for each connection.
    private func serve(_ connection: Connection) {
        if let request = readRequest(connection) {
            state.withLock { $0.requests[request.path, default: 0] += 1 }
            answer(request, connection)
        }
        state.withLock {
            $0.open.remove(connection.socket)
            // Under the lock: once closed, the number may be another connection's.
            closeSocket(connection.socket)
        }
    }

    private func readRequest(_ connection: Connection) -> HTTPRequest? {
        let mark = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        var headEnd: Int?
        while headEnd == nil {
            let more = connection.read()
            if more.isEmpty { return nil }
            bytes += more
            headEnd = bytes.indices.first { bytes[$0...].starts(with: mark) }
        }
        guard let headEnd else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self)
            .components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        if words.count < 2 { return nil }
        if header("expect", in: lines) != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
        let length = header("content-length", in: lines).flatMap { Int($0) } ?? 0
        var body = Array(bytes[(headEnd + mark.count)...])
        while body.count < length {
            let more = connection.read()
            if more.isEmpty { return nil }
            body += more
        }
        return HTTPRequest(method: words[0], path: words[1], body: body)
    }

    private func header(_ name: String, in lines: [String]) -> String? {
        lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
