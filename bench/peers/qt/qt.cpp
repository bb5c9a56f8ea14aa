// One thread: continuations with Launch::Sync.
#include "qt_peer.h"

#include "slots.h"

#include <QList>
#include <QObject>

#include <vector>

const char *peer_version(void) {
    return qVersion();
}

namespace {

size_t ran;

// W1
void createResolveRelease(size_t n) {
    for (size_t i = 0; i < n; i++) {
        QPromise<long> promise = started();
        QFuture<long> future = promise.future();
        settle(promise, 1);
    }
}

// W2
void chain(size_t n) {
    QPromise<long> promise = started();
    QFuture<long> last = promise.future();
    for (size_t i = 0; i < n; i++) {
        last = last.then(QtFuture::Launch::Sync, [](long input) { return input + 1; });
    }
    settle(promise, 0);
    peer_expect(last.result() == static_cast<long>(n), "W2");
}

// W3
QFuture<long> settled;

void beginSettled(size_t) {
    settled = QtFuture::makeReadyFuture(1L);
}

void thenOnSettled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        settled.then(QtFuture::Launch::Sync, [](long input) {
            ran++;
            return input + 1;
        });
    }
    peer_expect(ran == n, "W3");
}

// W5
void all(size_t n) {
    std::vector<QPromise<long>> promises;
    std::vector<QFuture<long>> futures;
    promises.reserve(n);
    futures.reserve(n);
    for (size_t i = 0; i < n; i++) {
        futures.push_back(promises.emplace_back(started()).future());
    }
    auto together = QtFuture::whenAll(futures.begin(), futures.end());
    for (size_t i = 0; i < n; i++) {
        settle(promises[i], static_cast<long>(i));
    }
    size_t sum = 0;
    const QList<QFuture<long>> results = together.result();
    for (const auto &each : results) {
        sum += static_cast<size_t>(each.result());
    }
    peer_expect(sum == n * (n - 1) / 2, "W5");
}

// W7: inline, with unwrap, which is how Qt flattens
QFuture<long> countDown(long left) {
    ran++;
    if (left == 0) {
        return QtFuture::makeReadyFuture(0L);
    }
    return QtFuture::makeReadyFuture(left - 1).then(QtFuture::Launch::Sync, countDown).unwrap();
}

void recursion(size_t n) {
    ran = 0;
    auto last = QtFuture::makeReadyFuture(static_cast<long>(n))
                    .then(QtFuture::Launch::Sync, countDown)
                    .unwrap();
    peer_expect(last.result() == 0 && ran == n + 1, "W7");
}

// W9
Slots<QPromise<long>> pending;

void beginPending(size_t n) {
    pending.reserve(n);
}

void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        pending.put(started()).future().then(QtFuture::Launch::Sync, [](long input) {
            ran++;
            return input + 1;
        });
    }
}

void settlePending(size_t) {
    ran = 0;
    for (auto &promise : pending) {
        settle(promise, 1);
    }
    peer_expect(ran == pending.size(), "W9");
    pending.clear();
}

// W11: the first future is cancelled; its link hears of it when the promise finishes
Slots<QFuture<long>> links, roots;

void makeLinks(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        roots.put(pending.put(started()).future());
        links.put(roots[i].then(QtFuture::Launch::Sync, [](long input) {
            ran++;
            return input + 1;
        }));
    }
}

void cancelLinks(size_t n) {
    for (size_t i = 0; i < n; i++) {
        roots[i].cancel();
        pending[i].finish();
    }
    for (size_t i = 0; i < n; i++) {
        peer_expect(links[i].isCanceled(), "W11");
    }
    pending.clear();
    roots.clear();
    links.clear();
    peer_expect(ran == 0, "W11: a cancelled handler ran");
}

void beginLinks(size_t n) {
    pending.reserve(n);
    roots.reserve(n);
    links.reserve(n);
}

} // namespace

const peer_workload peer_workloads[] = {
    {"W1", createResolveRelease, nullptr, nullptr, nullptr, false},
    {"W2", chain, nullptr, nullptr, nullptr, false},
    {"W3", thenOnSettled, nullptr, nullptr, beginSettled, false},
    {"W5", all, nullptr, nullptr, nullptr, false},
    {"W6a", chainOnThreads, nullptr, nullptr, beginOneThread, false},
    {"W6b", chainOnThreads, nullptr, nullptr, beginPool, false},
    {"W7", recursion, nullptr, nullptr, nullptr, false},
    {"W8", roundTrips, makePairs, freePairs, beginPairs, false},
    {"W9", pend, nullptr, settlePending, beginPending, true},
    {"W10", race, makePairs, freePairs, beginPairs, false},
    {"W11", cancelLinks, makeLinks, nullptr, beginLinks, false},
    {"W12", loopItems, nullptr, nullptr, beginLoop, false},
    {nullptr, nullptr, nullptr, nullptr, nullptr, false},
};
