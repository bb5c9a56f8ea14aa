// The little of POSIX sockets that the server of the tests needs.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    private let stream = SOCK_STREAM
#endif

/// A socket that listens on loopback, and its port.
func listenOnLoopback() -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, size) == 0 && listen(listener, 128) == 0
                && getsockname(listener, $0, &size) == 0
        }
    }
    precondition(listener >= 0 && isBound, "no socket on loopback")
    return (listener, UInt16(bigEndian: address.sin_port))
}

/// The next connection; nil once the listener has been shut down.
func acceptConnection(_ listener: Int32) -> Connection? {
    let socket = accept(listener, nil, nil)
    return socket < 0 ? nil : Connection(socket: socket)
}

/// Wakes who waits on a socket: it is at its end.
func endSocket(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }

func closeSocket(_ socket: Int32) { _ = close(socket) }

/// One connection of the server.
struct Connection {
    let socket: Int32

    /// What has come, at most so much; nothing: the other side is gone.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : []
    }

    /// Writes all of it; false: the other side is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Has closing send a reset and not an orderly end.
    func resetWhenClosed() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Has each write leave at once.
    func sendAtOnce() {
        var on: Int32 = 1
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
