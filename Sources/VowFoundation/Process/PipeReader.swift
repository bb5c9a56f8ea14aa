// Reads a pipe to its end without a thread that waits.

import Dispatch
import Foundation
import Synchronization
import Vow

/// Collects what comes out of a pipe.
final class PipeReader: Sendable {
    let pipe = Pipe()
    private let data = Mutex(Data())

    /// The promise of all that comes until the last writer is gone.
    func read() -> Promise<Data, any Error> {
        let (promise, resolver) = Promise<Data, any Error>.pending()
        let file = pipe.fileHandleForReading
        let queue = DispatchQueue(label: "vow.pipe")
        let channel = DispatchIO(
            type: .stream, fileDescriptor: file.fileDescriptor, queue: queue,
            // The descriptor is the handle's, which stays until the channel has done with it.
            cleanupHandler: { _ in try? file.close() })
        channel.setLimit(lowWater: 1)
        channel.read(offset: 0, length: .max, queue: queue) { isDone, chunk, error in
            if let chunk { self.data.withLock { $0.append(contentsOf: chunk) } }
            if !isDone { return }
            channel.close()
            if error == 0 {
                resolver.fulfill(self.data.withLock { $0 })
            } else {
                resolver.reject(POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO))
            }
        }
        resolver.onCancel { channel.close(flags: .stop) }
        return promise
    }
}
