// One thread: handlers run on the inline executor. A folly::Future has one continuation; for
// several there is SharedPromise.
#include "folly_peer.h"

#include "slots.h"

#include <folly/executors/QueuedImmediateExecutor.h>

#include <vector>

using folly::Future;
using folly::Promise;
using folly::SemiFuture;
using folly::SharedPromise;

const char *peer_version(void) {
    return PEER_LIBRARY_VERSION;
}

namespace {

size_t ran;

long addOne(long input) {
    ran++;
    return input + 1;
}

// W1
void createResolveRelease(size_t n) {
    for (size_t i = 0; i < n; i++) {
        Promise<long> promise;
        SemiFuture<long> future = promise.getSemiFuture();
        promise.setValue(1);
    }
}

// W2
void chain(size_t n) {
    ran = 0;
    Promise<long> promise;
    Future<long> last = promise.getSemiFuture().via(here());
    for (size_t i = 0; i < n; i++) {
        last = std::move(last).thenValue(addOne);
    }
    promise.setValue(0);
    peer_expect(last.value() == static_cast<long>(n) && ran == n, "W2");
}

// W3
SharedPromise<long> *settled;

void beginSettled(size_t) {
    settled = new SharedPromise<long>;
    settled->setValue(1);
}

void thenOnSettled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        settled->getSemiFuture().via(here()).thenValue(addOne);
    }
    peer_expect(ran == n, "W3");
}

// W4
void manyHandlers(size_t n) {
    ran = 0;
    SharedPromise<long> promise;
    for (size_t i = 0; i < n; i++) {
        promise.getSemiFuture().via(here()).thenValue(addOne);
    }
    promise.setValue(1);
    peer_expect(ran == n, "W4");
}

// W5
void all(size_t n) {
    std::vector<Promise<long>> promises(n);
    std::vector<SemiFuture<long>> futures;
    futures.reserve(n);
    for (auto &promise : promises) {
        futures.push_back(promise.getSemiFuture());
    }
    auto together = folly::collect(std::move(futures));
    for (size_t i = 0; i < n; i++) {
        promises[i].setValue(static_cast<long>(i));
    }
    size_t sum = 0;
    for (long each : std::move(together).get()) {
        sum += static_cast<size_t>(each);
    }
    peer_expect(sum == n * (n - 1) / 2, "W5");
}

// W7: the queued executor, which runs a handler when the running one has returned
Future<long> countDown(long left) {
    ran++;
    auto *queue = &folly::QueuedImmediateExecutor::instance();
    if (left == 0) {
        return folly::makeSemiFuture(0L).via(queue);
    }
    return folly::makeSemiFuture(left - 1).via(queue).thenValue(countDown);
}

void recursion(size_t n) {
    ran = 0;
    Future<long> last = folly::makeSemiFuture(static_cast<long>(n))
                            .via(&folly::QueuedImmediateExecutor::instance())
                            .thenValue(countDown);
    peer_expect(last.value() == 0 && ran == n + 1, "W7");
}

// W9: a dropped result does not stop the handler
Slots<Promise<long>> pending;

void beginPending(size_t n) {
    pending.reserve(n);
}

void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        pending.put({}).getSemiFuture().via(here()).thenValue(addOne);
    }
}

void settlePending(size_t n) {
    ran = 0;
    for (auto &promise : pending) {
        promise.setValue(1);
    }
    pending.clear();
    peer_expect(ran == n, "W9");
}

// W11: an interrupt, which the producer answers with its exception
Slots<Future<long>> links;

void beginLinks(size_t n) {
    pending.reserve(n);
    links.reserve(n);
}

void makeLinks(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        Promise<long> &promise = pending.put({});
        promise.setInterruptHandler(
            [&promise](const folly::exception_wrapper &reason) { promise.setException(reason); });
        links.put(promise.getSemiFuture().via(here()).thenValue(addOne));
    }
}

void cancelLinks(size_t n) {
    for (size_t i = 0; i < n; i++) {
        links[i].cancel();
        peer_expect(links[i].hasException(), "W11");
    }
    links.clear();
    pending.clear();
    peer_expect(ran == 0, "W11: a cancelled handler ran");
}

} // namespace

const peer_workload peer_workloads[] = {
    {"W1", createResolveRelease, nullptr, nullptr, nullptr, false},
    {"W2", chain, nullptr, nullptr, nullptr, false},
    {"W3", thenOnSettled, nullptr, nullptr, beginSettled, false},
    {"W4", manyHandlers, nullptr, nullptr, nullptr, false},
    {"W5", all, nullptr, nullptr, nullptr, false},
    {"W6a", chainOnThreads, nullptr, nullptr, beginSerial, false},
    {"W6b", chainOnThreads, nullptr, nullptr, beginPool, false},
    {"W6c", handlersOnThreads, nullptr, nullptr, beginSerial, false},
    {"W7", recursion, nullptr, nullptr, nullptr, false},
    {"W8", roundTrips, makePairs, freePairs, beginPairs, false},
    {"W9", pend, nullptr, settlePending, beginPending, true},
    {"W10", race, makePairs, freePairs, beginPairs, false},
    {"W11", cancelLinks, makeLinks, nullptr, beginLinks, false},
    {"W12", loopItems, nullptr, nullptr, nullptr, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false},
};
