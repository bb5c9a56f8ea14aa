// Swift concurrency: a promise is a task that waits for its continuation, a handler is a task that awaits another one.
// Tasks begin at once on the calling thread (Task.immediate), so that registering costs no hop; they go on on the pool.

import Harness

runPeer(
    version: "6.3",
    [
        "W1": .inTask(resumeAtOnce).noted("a continuation: no object is made"),
        "W2": .inTask(chain),
        "W3": .inTask(thenOnSettled),
        "W4": .inTask(manyHandlers),
        "W5": .inTask(all),
        "W6a": .inTask(serialChain),
        "W6b": .inTask(chain),  // Its links go on on the pool as it is.
        "W6c": .inTask(serialHandlers),
        "W7": .inTask(recursion).noted("an async function that calls itself"),
        "W8": .inTask(roundTrips),
        "W9": Held().workload,
        "W10": Race().workload,
        "W11": Cancelling().workload,
        "W12": .inTask(loopItems),
    ])
