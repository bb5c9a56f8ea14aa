// std::promise and std::future: one value, handed over once, read by blocking. There are no
// handlers.
#include "duel.h"
#include "slots.h"

#include <future>
#include <string>

const char *peer_version(void) {
    static const std::string version = "libstdc++ " + std::to_string(__GLIBCXX__);
    return version.c_str();
}

namespace {

// W1: the future is made and read, for without it nobody could have asked.
void createResolveRelease(size_t n) {
    for (size_t i = 0; i < n; i++) {
        std::promise<long> promise;
        std::future<long> future = promise.get_future();
        promise.set_value(1);
        peer_expect(future.get() == 1, "W1");
    }
}

// W8: the other thread's are the upper half.
Slots<std::promise<long>> promises;
Slots<std::future<long>> futures;

void beginRoundTrips(size_t n) {
    promises.reserve(2 * n);
    futures.reserve(2 * n);
}

void makeRoundTrips(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        futures.put(promises.put({}).get_future());
    }
}

void ping(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i].set_value(1);
        futures[n + i].get();
    }
}

void pong(size_t n) {
    for (size_t i = 0; i < n; i++) {
        futures[i].get();
        promises[n + i].set_value(1);
    }
}

void roundTrips(size_t n) {
    duel(ping, pong, n);
}

void freeRoundTrips(size_t) {
    promises.clear();
    futures.clear();
}

} // namespace

const peer_workload peer_workloads[] = {
    {"W1", createResolveRelease, nullptr, nullptr, nullptr, false},
    {"W8", roundTrips, makeRoundTrips, freeRoundTrips, beginRoundTrips, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false},
};
