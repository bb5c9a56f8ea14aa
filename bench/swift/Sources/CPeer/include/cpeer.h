/* What Swift cannot say. */
#ifndef CPEER_H
#define CPEER_H

#include <stdbool.h>

#include "../../../../count/count.h"

/* The counters of bench/count, which the runner preloads when a run counts. False: they are not
 * there. */
bool cpeer_read(bench_counts *counts);

/* Has the calling thread run on one processor; where that is forbidden, on any. */
void cpeer_pin(long processor);

#endif
