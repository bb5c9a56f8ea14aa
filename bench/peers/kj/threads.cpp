// Two threads, each with a loop: what KJ has between them.
#include "kj_peer.h"

#include "duel.h"

#include <kj/mutex.h>
#include <kj/vector.h>

#include <atomic>

namespace {

struct Pairs {
    kj::Vector<kj::Promise<long>> promises;
    kj::Vector<kj::Own<kj::CrossThreadPromiseFulfiller<long>>> fulfillers;

    void make(size_t n) {
        scope();
        for (size_t i = 0; i < n; i++) {
            auto pair = kj::newPromiseAndCrossThreadFulfiller<long>();
            promises.add(kj::mv(pair.promise));
            fulfillers.add(kj::mv(pair.fulfiller));
        }
    }

    void clear() {
        promises.clear();
        fulfillers.clear();
    }
};

// Each side's promises are made and awaited on its own thread, and fulfilled by the other one.
Pairs sides[2];

void both(void (*first)(size_t), void (*second)(size_t), size_t n) {
    duel(first, second, n);
}

} // namespace

// W8
void makeRoundTrips(size_t n) {
    both([](size_t n) { sides[0].make(n); }, [](size_t n) { sides[1].make(n); }, n);
}

void roundTrips(size_t n) {
    both(
        [](size_t n) {
            for (size_t i = 0; i < n; i++) {
                sides[1].fulfillers[i]->fulfill(1);
                sides[0].promises[i].wait(scope());
            }
        },
        [](size_t n) {
            for (size_t i = 0; i < n; i++) {
                sides[1].promises[i].wait(scope());
                sides[0].fulfillers[i]->fulfill(1);
            }
        },
        n);
}

void freeRoundTrips(size_t n) {
    both([](size_t) { sides[0].clear(); }, [](size_t) { sides[1].clear(); }, n);
}

// W12: executeAsync, all under way together; the loop runs while it waits for the last.
namespace {
kj::Own<const kj::Executor> executor;
std::atomic<size_t> ran;
kj::Own<kj::PromiseFulfiller<void>> finished;
kj::Promise<void> finish = nullptr;
} // namespace

void beginItems(size_t) {
    scope();
    executor = kj::getCurrentThreadExecutor().addRef();
}

void loopItems(size_t n) {
    ran = 0;
    auto pair = kj::newPromiseAndFulfiller<void>();
    finish = kj::mv(pair.promise);
    finished = kj::mv(pair.fulfiller);
    duel([](size_t) { finish.wait(scope()); },
         [](size_t n) {
             auto results = kj::heapArrayBuilder<kj::Promise<void>>(n);
             scope();
             for (size_t i = 0; i < n; i++) {
                 results.add(executor->executeAsync([] { ran++; }));
             }
             kj::joinPromises(results.finish()).wait(scope());
             executor->executeSync([] { finished->fulfill(); });
         },
         n);
    peer_expect(ran == n, "W12");
}
