/* The files of this peer. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "peer.h"

/* R4 and W6, in hops.c */
void begin_hops(size_t n);
void serial_calls(size_t n);
void serial_hops(size_t n);
void pool_hops(size_t n);

/* W8, in futex.c */
void begin_futexes(size_t n);
void reset_futexes(size_t n);
void futex_round_trips(size_t n);

#endif
