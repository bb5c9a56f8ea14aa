// OpenCombine's Future, the open implementation of Combine: handlers are sinks, and run where it is fulfilled. A sink lives
// as long as its AnyCancellable, so these are kept and freed in the measured time.

import Harness

runPeer(
    version: "0.14.0",
    [
        "W1": .plain(createResolveRelease),
        "W2": .plain(chain),
        "W3": .plain(thenOnSettled),
        "W4": .plain(manyHandlers),
        "W5": .plain(all),
        "W6a": .plain(serialChain),
        "W6c": .plain(serialHandlers),
        "W7": .plain(recursion),
        "W9": Held().workload,
        "W10": Race().workload,
        "W11": Cancelling().workload,
    ])
