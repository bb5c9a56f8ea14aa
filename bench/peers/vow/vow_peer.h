/* The two files of this peer. */
#ifndef BENCH_VOW_PEER_H
#define BENCH_VOW_PEER_H

#include "peer.h"

#include <vow.h>

/* W12, in loop.c */
void begin_loop(size_t n);
void loop_items(size_t n);

#endif
