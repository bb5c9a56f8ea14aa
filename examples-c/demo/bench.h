/* bench.h: many chains, some at a time, and how long they took. */
#ifndef DEMO_BENCH_H
#define DEMO_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "chain.h"

/* Runs `count` chains, `parallel` at a time, waits for the last one and prints throughput and
 * latencies. False if a chain failed; then the first error is printed. */
bool bench_run(const struct chain_plan *plan, size_t count, size_t parallel);

#endif
