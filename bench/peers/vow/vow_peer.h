/* The files of this peer. */
#ifndef BENCH_VOW_PEER_H
#define BENCH_VOW_PEER_H

#include "peer.h"

#include <vow.h>

/* With the resolver's only handle, consumed. */
static inline void settle(vow_resolver *resolver, int64_t value) {
    peer_expect(vow_resolve(resolver, vow_int(value)), "was resolved before");
    vow_resolver_release(resolver);
}

/* W6, W8, W10, in threads.c */
void begin_serial(size_t n);
void serial_chain(size_t n);
void pool_chain(size_t n);
void serial_handlers(size_t n);
void begin_round_trips(size_t n);
void make_round_trips(size_t n);
void round_trips(size_t n);
void free_round_trips(size_t n);
void begin_pairs(size_t n);
void make_pairs(size_t n);
void race(size_t n);

/* W12, in loop.c */
void begin_loop(size_t n);
void loop_items(size_t n);

#endif
