// Several threads: executors, blocking, races.
#include "folly_peer.h"

#include "duel.h"
#include "slots.h"

#include <folly/executors/CPUThreadPoolExecutor.h>
#include <folly/executors/ManualExecutor.h>
#include <folly/executors/SerialExecutor.h>

#include <atomic>
#include <thread>

using folly::Future;
using folly::Promise;
using folly::SemiFuture;

namespace {

std::atomic<size_t> ran;
folly::CPUThreadPoolExecutor *pool;
folly::Executor::KeepAlive<> target;
Slots<Promise<long>> promises;
Slots<SemiFuture<long>> futures;

long addOne(long input) {
    ran.fetch_add(1, std::memory_order_relaxed);
    return input + 1;
}

} // namespace

// W6
void beginPool(size_t) {
    pool = new folly::CPUThreadPoolExecutor(std::thread::hardware_concurrency());
    target = folly::getKeepAliveToken(pool);
}

void beginSerial(size_t n) {
    beginPool(n);
    target = folly::SerialExecutor::create(folly::getKeepAliveToken(pool));
}

void chainOnThreads(size_t n) {
    ran = 0;
    Promise<long> promise;
    Future<long> last = promise.getSemiFuture().via(target);
    for (size_t i = 0; i < n; i++) {
        last = std::move(last).thenValue(addOne);
    }
    promise.setValue(0);
    peer_expect(std::move(last).get() == static_cast<long>(n) && ran == n, "W6a, W6b");
}

void handlersOnThreads(size_t n) {
    ran = 0;
    folly::SharedPromise<long> promise;
    Future<long> last = Future<long>::makeEmpty();
    for (size_t i = 0; i < n; i++) {
        last = promise.getSemiFuture().via(target).thenValue(addOne);
    }
    promise.setValue(1);
    std::move(last).get();
    peer_expect(ran == n, "W6c");
}

// W8 and W10: twice as many as needed for W10; the upper half is the other thread's.
void beginPairs(size_t n) {
    promises.reserve(2 * n);
    futures.reserve(2 * n);
}

void makePairs(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        futures.put(promises.put({}).getSemiFuture());
    }
}

void freePairs(size_t) {
    promises.clear();
    futures.clear();
}

void roundTrips(size_t n) {
    auto ping = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            promises[i].setValue(1);
            futures[n + i].wait();
        }
    };
    auto pong = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            futures[i].wait();
            promises[n + i].setValue(1);
        }
    };
    duel(ping, pong, n);
}

void race(size_t n) {
    ran = 0;
    auto registering = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            if (i % DUEL_STRIDE == 0) {
                duel_meet(0, i / DUEL_STRIDE);
            }
            std::move(futures[i]).via(here()).thenValue(addOne);
        }
    };
    auto settling = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            if (i % DUEL_STRIDE == 0) {
                duel_meet(1, i / DUEL_STRIDE);
            }
            promises[i].setValue(1);
        }
    };
    duel(registering, settling, n);
    peer_expect(ran == n, "W10");
}

// W12: ManualExecutor is the loop that the program runs itself
void loopItems(size_t n) {
    static folly::ManualExecutor *loop = new folly::ManualExecutor;
    ran = 0;
    auto running = [](size_t n) {
        while (ran < n) {
            loop->wait();
            loop->run();
        }
    };
    auto submitting = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            loop->add([] { ran.fetch_add(1, std::memory_order_relaxed); });
        }
    };
    duel(running, submitting, n);
    peer_expect(ran == n, "W12");
}
