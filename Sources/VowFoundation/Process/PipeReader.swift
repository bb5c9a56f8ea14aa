// Reads pipes to their ends.

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Collects the output of several pipes, on a thread of its own.
///
/// A thread, because on Linux libdispatch's channels were seen to crash in its event loop when many pipes came to
/// their ends at a time.
final class PipeReader: Sendable {
    /// Readable, for it is at its end, once the reading is to stop.
    private let stopping = Pipe()

    /// Calls `handler` once, with all bytes of each pipe until its last writer is gone, or with the reason why there
    /// are no more. A pipe that is nil has no bytes.
    init(
        _ files: [FileHandle?], _ handler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        let stop = stopping.fileHandleForReading
        Thread.detachNewThread { handler(Result { try readAll(files, until: stop) }) }
    }

    /// Ends the reading with a `CancellationError`.
    func stop() { try? stopping.fileHandleForWriting.close() }
}

private func readAll(_ files: [FileHandle?], until stop: FileHandle) throws -> [Data] {
    var data = files.map { _ in Data() }
    var open = files.indices.filter { files[$0] != nil }
    while !open.isEmpty {
        let ready = try waitForInput([stop] + open.compactMap { files[$0] })
        if ready[0] { throw CancellationError() }
        for (place, index) in open.enumerated().reversed() where ready[place + 1] {
            let chunk = try readSome(files[index])
            data[index] += chunk
            if chunk.isEmpty { open.remove(at: place) }
        }
    }
    return data
}

/// Which of the files have something to read, or are at their end.
private func waitForInput(_ files: [FileHandle]) throws -> [Bool] {
    var polls = files.map { pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0) }
    while poll(&polls, nfds_t(polls.count), -1) < 0 {
        if errno != EINTR { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
    return polls.map { $0.revents != 0 }
}

/// The bytes that are there; none: the pipe is at its end.
private func readSome(_ file: FileHandle?) throws -> Data {
    guard let file else { return Data() }
    return try withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
        while true {
            let count = read(file.fileDescriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return Data(buffer.prefix(count)) }
            if errno != EINTR { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }
}
