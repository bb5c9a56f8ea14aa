// The files of this peer.
#ifndef BENCH_FOLLY_PEER_H
#define BENCH_FOLLY_PEER_H

#include "peer.h"

#include <folly/executors/InlineExecutor.h>
#include <folly/futures/Future.h>
#include <folly/futures/SharedPromise.h>

// In threads.cpp: W6, W8, W10, W12.
void beginSerial(size_t n);
void beginPool(size_t n);
void chainOnThreads(size_t n);
void handlersOnThreads(size_t n);
void beginPairs(size_t n);
void makePairs(size_t n);
void roundTrips(size_t n);
void race(size_t n);
void freePairs(size_t n);
void loopItems(size_t n);

inline folly::Executor::KeepAlive<> here() {
    return &folly::InlineExecutor::instance();
}

#endif
