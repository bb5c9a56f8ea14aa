// Reads a pipe to its end without a thread that waits.

import Dispatch
import Foundation

/// Collects what comes out of a pipe.
final class PipeReader: Sendable {
    let pipe = Pipe()

    /// Calls `handler`, once, with all that comes until the last writer is gone, or why there is no more.
    ///
    /// - Returns: what ends the reading at once.
    func read(
        _ handler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let file = pipe.fileHandleForReading
        let queue = DispatchQueue(label: "vow.pipe")
        let channel = DispatchIO(
            type: .stream, fileDescriptor: file.fileDescriptor, queue: queue,
            // The descriptor is the handle's, which stays until the channel has done with it.
            cleanupHandler: { _ in try? file.close() })
        // Only used on the queue.
        nonisolated(unsafe) var data = Data()
        channel.read(offset: 0, length: .max, queue: queue) { isDone, chunk, error in
            if let chunk { data.append(contentsOf: chunk) }
            if !isDone { return }
            channel.close()
            handler(error == 0 ? .success(data) : .failure(readError(error)))
        }
        return { channel.close(flags: .stop) }
    }
}

private func readError(_ code: Int32) -> any Error {
    POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
}
