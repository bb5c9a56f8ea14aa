// Boost.Thread's futures with continuations, as its documentation has them; the files of this peer.
#ifndef BENCH_BOOST_PEER_H
#define BENCH_BOOST_PEER_H

#define BOOST_THREAD_VERSION 5
#define BOOST_THREAD_PROVIDES_EXECUTORS
#include <boost/thread/executors/basic_thread_pool.hpp>
#include <boost/thread/executors/loop_executor.hpp>
#include <boost/thread/future.hpp>

#include "peer.h"

// In threads.cpp: W6, W8, W10, W12.
void beginOneThread(size_t n);
void beginPool(size_t n);
void chainOnThreads(size_t n);
void handlersOnThreads(size_t n);
void beginPairs(size_t n);
void makePairs(size_t n);
void roundTrips(size_t n);
void race(size_t n);
void freePairs(size_t n);
void loopItems(size_t n);

#endif
