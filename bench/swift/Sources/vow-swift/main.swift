// Vow through its Swift face. W1 to W5 and W7 use the inline executor, as the peers' handlers run inline.

import Harness
import Vow

typealias IntPromise = Promise<Int, any Error>
typealias IntResolver = PromiseResolver<Int, any Error>

let version = PromiseRuntime.version

runPeer(
    version: "\(version.major).\(version.minor).\(version.patch)",
    [
        "W1": .plain(createResolveRelease),
        "W2": .plain(chain),
        "W3": .plain(thenOnSettled),
        "W4": .plain(manyHandlers),
        "W5": .plain(all),
        "W6a": .plain { hops($0, on: serial) },
        "W6b": .plain { hops($0, on: .pool) },
        "W6c": .plain(serialHandlers),
        "W7": .plain(recursion),
        "W8": RoundTrips().workload,
        "W9": Held().workload,
        "W10": Race().workload,
        "W11": Cancelling().workload,
        "W12": .plain(begin: { _ in makeLoop() }, loopItems),
    ])
