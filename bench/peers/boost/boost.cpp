// One thread: handlers run inline, with launch::sync.
#include "boost_peer.h"

#include "slots.h"

#include <string>
#include <vector>

using boost::future;
using boost::launch;
using boost::promise;
using boost::shared_future;

const char *peer_version(void) {
    static const std::string version = std::to_string(BOOST_VERSION / 100000) + "." +
                                       std::to_string(BOOST_VERSION / 100 % 1000) + "." +
                                       std::to_string(BOOST_VERSION % 100);
    return version.c_str();
}

namespace {

size_t ran;

// W1
void createResolveRelease(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promise<long> source;
        future<long> result = source.get_future();
        source.set_value(1);
    }
}

// W2
void chain(size_t n) {
    promise<long> source;
    future<long> last = source.get_future();
    for (size_t i = 0; i < n; i++) {
        last = last.then(launch::sync, [](future<long> input) { return input.get() + 1; });
    }
    source.set_value(0);
    peer_expect(last.get() == static_cast<long>(n), "W2");
}

// W3
shared_future<long> settled;

void beginSettled(size_t) {
    settled = boost::make_ready_future(1L).share();
}

void thenOnSettled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        settled.then(launch::sync, [](shared_future<long> input) {
            ran++;
            return input.get() + 1;
        });
    }
    peer_expect(ran == n, "W3");
}

// W4: without launch::async a result that is dropped does not wait
void manyHandlers(size_t n) {
    ran = 0;
    promise<long> source;
    shared_future<long> shared = source.get_future().share();
    for (size_t i = 0; i < n; i++) {
        shared.then(launch::sync, [](shared_future<long> input) {
            ran++;
            return input.get() + 1;
        });
    }
    source.set_value(1);
    peer_expect(ran == n, "W4");
}

// W5
void all(size_t n) {
    std::vector<promise<long>> sources(n);
    std::vector<future<long>> futures;
    futures.reserve(n);
    for (auto &source : sources) {
        futures.push_back(source.get_future());
    }
    auto together = boost::when_all(futures.begin(), futures.end());
    for (size_t i = 0; i < n; i++) {
        sources[i].set_value(static_cast<long>(i));
    }
    size_t sum = 0;
    for (auto &result : together.get()) {
        sum += static_cast<size_t>(result.get());
    }
    peer_expect(sum == n * (n - 1) / 2, "W5");
}

// W7: a loop executor, so that handlers do not run inside each other
boost::executors::loop_executor *loop;

void beginRecursion(size_t) {
    loop = new boost::executors::loop_executor;
}

future<long> countDown(future<long> input) {
    ran++;
    long left = input.get();
    if (left == 0) {
        return boost::make_ready_future(0L);
    }
    return boost::make_ready_future(left - 1).then(*loop, countDown).unwrap();
}

void recursion(size_t n) {
    ran = 0;
    auto last = boost::make_ready_future(static_cast<long>(n)).then(*loop, countDown).unwrap();
    while (!last.is_ready()) {
        loop->try_executing_one();
    }
    peer_expect(last.get() == 0 && ran == n + 1, "W7");
}

// W9
Slots<promise<long>> pending;

void beginPending(size_t n) {
    pending.reserve(n);
}

void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        pending.put({}).get_future().then(launch::sync, [](future<long> input) {
            ran++;
            return input.get() + 1;
        });
    }
}

void settlePending(size_t n) {
    ran = 0;
    for (auto &source : pending) {
        source.set_value(1);
    }
    pending.clear();
    peer_expect(ran == n, "W9");
}

} // namespace

const peer_workload peer_workloads[] = {
    {"W1", createResolveRelease, nullptr, nullptr, nullptr, false},
    {"W2", chain, nullptr, nullptr, nullptr, false},
    {"W3", thenOnSettled, nullptr, nullptr, beginSettled, false},
    {"W4", manyHandlers, nullptr, nullptr, nullptr, false},
    {"W5", all, nullptr, nullptr, nullptr, false},
    {"W6a", chainOnThreads, nullptr, nullptr, beginOneThread, false},
    {"W6b", chainOnThreads, nullptr, nullptr, beginPool, false},
    {"W6c", handlersOnThreads, nullptr, nullptr, beginOneThread, false},
    {"W7", recursion, nullptr, nullptr, beginRecursion, false},
    {"W8", roundTrips, makePairs, freePairs, beginPairs, false},
    {"W9", pend, nullptr, settlePending, beginPending, true},
    {"W10", race, makePairs, freePairs, beginPairs, false},
    {"W12", loopItems, nullptr, nullptr, nullptr, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false},
};
