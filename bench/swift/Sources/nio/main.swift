// SwiftNIO's EventLoopFuture. W1 to W5 and W9 on an EmbeddedEventLoop, whose thread is the caller's: nothing is
// cheaper in this library. The others on a loop with a thread of its own.

import Harness

runPeer(
    version: "2.101.2",
    [
        "W1": .plain(createResolveRelease),
        "W2": .plain(chain),
        "W3": .plain(thenOnSettled),
        "W4": .plain(manyHandlers),
        "W5": .plain(all),
        "W6a": .plain(loopChain),
        "W6b": .plain(poolChain),
        "W6c": .plain(loopHandlers),
        "W7": .plain(recursion),
        "W8": RoundTrips().workload,
        "W9": Held().workload,
        "W10": Race().workload,
        "W12": .plain(loopItems),
    ])
