// Several threads: pools, blocking, races, the event loop.
#include "qt_peer.h"

#include "duel.h"
#include "slots.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QThreadPool>

#include <atomic>

namespace {

std::atomic<size_t> ran;
QThreadPool *pool;
Slots<QPromise<long>> promises;
Slots<QFuture<long>> futures;

} // namespace

// W6: a pool of one thread is Qt's serial queue.
void beginOneThread(size_t) {
    pool = new QThreadPool;
    pool->setMaxThreadCount(1);
}

void beginPool(size_t) {
    pool = QThreadPool::globalInstance();
}

void chainOnThreads(size_t n) {
    QPromise<long> promise = started();
    QFuture<long> last = promise.future();
    for (size_t i = 0; i < n; i++) {
        last = last.then(pool, [](long input) { return input + 1; });
    }
    settle(promise, 0);
    peer_expect(last.result() == static_cast<long>(n), "W6");
}

// W8 and W10: twice as many as needed for W10; the upper half is the other thread's.
void beginPairs(size_t n) {
    promises.reserve(2 * n);
    futures.reserve(2 * n);
}

void makePairs(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        futures.put(promises.put(started()).future());
    }
}

void freePairs(size_t) {
    promises.clear(); // what nobody settled finishes as cancelled
    futures.clear();
}

void roundTrips(size_t n) {
    auto ping = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            settle(promises[i], 1);
            futures[n + i].waitForFinished();
        }
    };
    auto pong = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            futures[i].waitForFinished();
            settle(promises[n + i], 1);
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
            futures[i].then(QtFuture::Launch::Sync, [](long input) {
                ran.fetch_add(1, std::memory_order_relaxed);
                return input + 1;
            });
        }
    };
    auto settling = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            if (i % DUEL_STRIDE == 0) {
                duel_meet(1, i / DUEL_STRIDE);
            }
            settle(promises[i], 1);
        }
    };
    duel(registering, settling, n);
    peer_expect(ran == n, "W10");
}

// W12: a queued call to an object that lives on the loop's thread.
namespace {
QEventLoop *loop;
QObject *receiver;
size_t left;
} // namespace

void beginLoop(size_t) {
    static int count = 1;
    static char name[] = "qt", *arguments[] = {name, nullptr};
    new QCoreApplication(count, arguments);
    loop = new QEventLoop;
    receiver = new QObject;
}

void loopItems(size_t n) {
    left = n;
    auto running = [](size_t) { loop->exec(); };
    auto submitting = [](size_t n) {
        for (size_t i = 0; i < n; i++) {
            QMetaObject::invokeMethod(
                receiver,
                [] {
                    if (--left == 0) {
                        loop->quit();
                    }
                },
                Qt::QueuedConnection);
        }
    };
    // The first call may come before the loop runs: it is queued until then.
    duel(running, submitting, n);
    peer_expect(left == 0, "W12");
}
