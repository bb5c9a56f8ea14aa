// What the server of the tests answers to each path.

import Foundation

/// The size of the large bodies.
let largeSize = 1 << 20

/// A body in which each place can be told from its neighbours.
let largeBody = (0..<largeSize).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

extension HTTPServer {
    func answer(_ request: HTTPRequest, _ connection: Connection) {
        switch request.path {
        case "/text": send("hello", connection)
        case "/empty": send("", connection)
        case "/nothing": connection.write("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        case "/json": send(#"{"name": "ada", "age": 36}"#, connection, type: "application/json")
        case "/echo": send(request.body, connection)
        case "/method": send(request.method, connection)
        case "/head": connection.write(head(200, length: 5))
        case "/redirect":
            connection.write(head(302, length: 0, "Location: \(url("/text").absoluteString)\r\n"))
        case "/sized": send(largeBody, connection)
        case "/chunked": sendChunks(connection)
        case "/slow": sendByteByByte("a body that comes byte by byte", connection)
        case "/hang": waitForHangUp(connection)
        case "/hang-in-body":
            connection.write(head(200, length: 1000) + "the beginning")
            waitForHangUp(connection)
        case "/reset":
            connection.write(head(200, length: 1000) + "the beginning")
            connection.resetWhenClosed()
        case "/short": connection.write(head(200, length: 1000) + "the beginning")
        default: sendStatus(request.path, connection)
        }
    }

    private func head(
        _ status: Int, length: Int, _ headers: String = "", type: String = "text/plain"
    ) -> String {
        "HTTP/1.1 \(status) X\r\nContent-Length: \(length)\r\nContent-Type: \(type)\r\n"
            + "Connection: close\r\n\(headers)\r\n"
    }

    private func send(_ body: [UInt8], _ connection: Connection, type: String = "text/plain") {
        if connection.write(head(200, length: body.count, type: type)) { connection.write(body) }
    }

    private func send(_ text: String, _ connection: Connection, type: String = "text/plain") {
        send(Array(text.utf8), connection, type: type)
    }

    /// The path is /status/ and a number.
    private func sendStatus(_ path: String, _ connection: Connection) {
        let status = path.split(separator: "/").last.flatMap { Int($0) } ?? 404
        connection.write(head(status, length: 3) + "why")
    }

    private func sendChunks(_ connection: Connection) {
        connection.write(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        var start = 0
        while start < largeSize {
            let end = min(start + 40_000, largeSize)
            connection.write(String(end - start, radix: 16) + "\r\n")
            connection.write(Array(largeBody[start..<end]))
            connection.write("\r\n")
            start = end
        }
        connection.write("0\r\n\r\n")
    }

    private func sendByteByByte(_ text: String, _ connection: Connection) {
        connection.sendAtOnce()
        connection.write(head(200, length: text.utf8.count))
        for byte in text.utf8 {
            usleep(500)
            connection.write([byte])
        }
    }

    /// Answers nothing until the client goes.
    private func waitForHangUp(_ connection: Connection) {
        while !connection.read().isEmpty {}
        noteHangUp()
    }
}
