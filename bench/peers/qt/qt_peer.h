// The files of this peer.
#ifndef BENCH_QT_PEER_H
#define BENCH_QT_PEER_H

#include "peer.h"

#include <QFuture>
#include <QPromise>

// In threads.cpp: W6, W8, W10, W12.
void beginOneThread(size_t n);
void beginPool(size_t n);
void chainOnThreads(size_t n);
void beginPairs(size_t n);
void makePairs(size_t n);
void roundTrips(size_t n);
void race(size_t n);
void freePairs(size_t n);
void beginLoop(size_t n);
void loopItems(size_t n);

// A promise that is running, as one is inside QtConcurrent.
inline QPromise<long> started() {
    QPromise<long> promise;
    promise.start();
    return promise;
}

inline void settle(QPromise<long> &promise, long value) {
    promise.addResult(value);
    promise.finish();
}

#endif
