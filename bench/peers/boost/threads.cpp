// Several threads: executors, blocking, races.
#include "boost_peer.h"

#include "duel.h"
#include "slots.h"

#include <atomic>

using boost::future;
using boost::launch;
using boost::promise;
using boost::shared_future;

namespace {

std::atomic<size_t> ran;
boost::executors::basic_thread_pool *pool;
Slots<promise<long>> promises;
Slots<future<long>> futures;

} // namespace

// W6: one thread is Boost's serial queue; its serial_executor puts another one's thread in between.
void beginOneThread(size_t) {
    pool = new boost::executors::basic_thread_pool(1);
}

void beginPool(size_t) {
    pool = new boost::executors::basic_thread_pool;
}

void chainOnThreads(size_t n) {
    promise<long> source;
    future<long> last = source.get_future();
    for (size_t i = 0; i < n; i++) {
        last = last.then(*pool, [](future<long> input) { return input.get() + 1; });
    }
    source.set_value(0);
    peer_expect(last.get() == static_cast<long>(n), "W6a, W6b");
}

void handlersOnThreads(size_t n) {
    ran = 0;
    promise<long> source;
    shared_future<long> shared = source.get_future().share();
    future<long> last;
    for (size_t i = 0; i < n; i++) {
        last = shared.then(*pool, [](shared_future<long> input) {
            ran++;
            return input.get() + 1;
        });
    }
    source.set_value(1);
    last.get();
    peer_expect(ran == n, "W6c");
}

// W8 and W10: twice as many as needed for W10; the upper half is the other thread's.
void beginPairs(size_t n) {
    promises.reserve(2 * n);
    futures.reserve(2 * n);
}

void makePairs(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        futures.put(promises.put({}).get_future());
    }
}

void freePairs(size_t) {
    promises.clear();
    futures.clear();
}

void roundTrips(size_t n) {
    auto ping = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            promises[i].set_value(1);
            futures[n + i].get();
        }
    };
    auto pong = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            futures[i].get();
            promises[n + i].set_value(1);
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
            futures[i].then(launch::sync, [](future<long> input) {
                ran.fetch_add(1, std::memory_order_relaxed);
                return input.get() + 1;
            });
        }
    };
    auto settling = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            if (i % DUEL_STRIDE == 0) {
                duel_meet(1, i / DUEL_STRIDE);
            }
            promises[i].set_value(1);
        }
    };
    duel(registering, settling, n);
    peer_expect(ran == n, "W10");
}

// W12: the loop runs until it is closed.
void loopItems(size_t n) {
    static boost::executors::loop_executor *loop;
    boost::executors::loop_executor here;
    loop = &here;
    ran = 0;
    auto running = [](size_t) { loop->loop(); };
    auto submitting = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            loop->submit([] { ran.fetch_add(1, std::memory_order_relaxed); });
        }
        loop->close();
    };
    duel(running, submitting, n);
    peer_expect(ran == n, "W12");
}
