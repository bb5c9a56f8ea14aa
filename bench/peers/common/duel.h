/* Two threads, each on a processor of its own, that work against each other (W8, W10, W12). */
#ifndef BENCH_DUEL_H
#define BENCH_DUEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs first(n) on the calling thread and second(n) on the other one, at the same time; returns
 * when both have ended. The other thread is made once and kept. */
void duel(void (*first)(size_t n), void (*second)(size_t n), size_t n);

/* Both call it with the same rising number, from 0: neither goes on before the other is there. It
 * costs a cache line's way between two processors, so it is meant for every few items. */
void duel_meet(int side, size_t round);

/* How many items the two do between meetings, so that they stay side by side. */
#define DUEL_STRIDE 16

#ifdef __cplusplus
}
#endif

#endif
