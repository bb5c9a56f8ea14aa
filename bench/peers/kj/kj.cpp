// One thread and its event loop. Not thread-safe, by design: reference counts are plain.
#include "kj_peer.h"

#include "slots.h"

#include <kj/vector.h>

#include <string>

const char *peer_version(void) {
    return PEER_LIBRARY_VERSION;
}

kj::WaitScope &scope() {
    static thread_local kj::EventLoop loop;
    static thread_local kj::WaitScope here(loop);
    return here;
}

namespace {

size_t ran;

// W1
void createResolveRelease(size_t n) {
    scope();
    for (size_t i = 0; i < n; i++) {
        auto pair = kj::newPromiseAndFulfiller<long>();
        pair.fulfiller->fulfill(1);
    }
}

// W2
void chain(size_t n) {
    scope();
    auto pair = kj::newPromiseAndFulfiller<long>();
    kj::Promise<long> last = kj::mv(pair.promise);
    for (size_t i = 0; i < n; i++) {
        last = last.then([](long input) { return input + 1; });
    }
    pair.fulfiller->fulfill(0);
    peer_expect(last.wait(scope()) == static_cast<long>(n), "W2");
}

// W3: a branch of a forked promise, for a promise is consumed by its one reader
void thenOnSettled(size_t n) {
    ran = 0;
    scope();
    auto settled = kj::Promise<long>(1).fork();
    for (size_t i = 0; i < n; i++) {
        settled.addBranch()
            .then([](long input) {
                ran++;
                return input + 1;
            })
            .wait(scope());
    }
    peer_expect(ran == n, "W3");
}

// W4: eagerly evaluated, for a KJ handler runs only when somebody waits for it
void manyHandlers(size_t n) {
    ran = 0;
    scope();
    auto pair = kj::newPromiseAndFulfiller<long>();
    auto shared = pair.promise.fork();
    kj::Vector<kj::Promise<long>> results(n);
    for (size_t i = 0; i < n; i++) {
        results.add(shared.addBranch()
                        .then([](long input) {
                            ran++;
                            return input + 1;
                        })
                        .eagerlyEvaluate(nullptr));
    }
    pair.fulfiller->fulfill(1);
    scope().poll();
    peer_expect(ran == n, "W4");
}

// W5
void all(size_t n) {
    scope();
    auto promises = kj::heapArrayBuilder<kj::Promise<long>>(n);
    kj::Vector<kj::Own<kj::PromiseFulfiller<long>>> fulfillers(n);
    for (size_t i = 0; i < n; i++) {
        auto pair = kj::newPromiseAndFulfiller<long>();
        promises.add(kj::mv(pair.promise));
        fulfillers.add(kj::mv(pair.fulfiller));
    }
    auto together = kj::joinPromises(promises.finish());
    for (size_t i = 0; i < n; i++) {
        fulfillers[i]->fulfill(static_cast<long>(i));
    }
    size_t sum = 0;
    for (long each : together.wait(scope())) {
        sum += static_cast<size_t>(each);
    }
    peer_expect(sum == n * (n - 1) / 2, "W5");
}

// W7
kj::Promise<long> countDown(long left) {
    ran++;
    if (left == 0) {
        return 0L;
    }
    return kj::Promise<long>(left - 1).then([](long rest) { return countDown(rest); });
}

void recursion(size_t n) {
    ran = 0;
    scope();
    kj::Promise<long> last =
        kj::Promise<long>(static_cast<long>(n)).then([](long left) { return countDown(left); });
    peer_expect(last.wait(scope()) == 0 && ran == n + 1, "W7");
}

// W9 and W11: the reader is held, for letting it go cancels
Slots<kj::Promise<long>> links;
Slots<kj::Own<kj::PromiseFulfiller<long>>> sources;

void beginLinks(size_t n) {
    scope();
    links.reserve(n);
    sources.reserve(n);
}

void makeLinks(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        auto pair = kj::newPromiseAndFulfiller<long>();
        links.put(pair.promise.then([](long input) {
            ran++;
            return input + 1;
        }));
        sources.put(kj::mv(pair.fulfiller));
    }
}

void settleLinks(size_t n) {
    for (size_t i = 0; i < n; i++) {
        sources[i]->fulfill(1);
    }
    for (auto &each : links) {
        each.wait(scope());
    }
    peer_expect(ran == n, "W9");
    links.clear();
    sources.clear();
}

void cancelLinks(size_t n) {
    links.clear(); // in KJ, cancelling is letting go
    peer_expect(!sources[0]->isWaiting() && !sources[n - 1]->isWaiting() && ran == 0, "W11");
    sources.clear();
}

} // namespace

const peer_workload peer_workloads[] = {
    {"W1", createResolveRelease, nullptr, nullptr, nullptr, false},
    {"W2", chain, nullptr, nullptr, nullptr, false},
    {"W3", thenOnSettled, nullptr, nullptr, nullptr, false},
    {"W4", manyHandlers, nullptr, nullptr, nullptr, false},
    {"W5", all, nullptr, nullptr, nullptr, false},
    {"W7", recursion, nullptr, nullptr, nullptr, false},
    {"W8", roundTrips, makeRoundTrips, freeRoundTrips, nullptr, false},
    {"W9", makeLinks, nullptr, settleLinks, beginLinks, true},
    {"W11", cancelLinks, makeLinks, nullptr, beginLinks, false},
    {"W12", loopItems, nullptr, nullptr, beginItems, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false},
};
