// The files of this peer.
#ifndef BENCH_KJ_PEER_H
#define BENCH_KJ_PEER_H

#include "peer.h"

#include <kj/async.h>

// The loop of the calling thread, made at its first use; every KJ promise belongs to one.
kj::WaitScope &scope();

// In threads.cpp: W8, W12.
void makeRoundTrips(size_t n);
void roundTrips(size_t n);
void freeRoundTrips(size_t n);
void beginItems(size_t n);
void loopItems(size_t n);

#endif
