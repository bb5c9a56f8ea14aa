/* Counts what a program takes from malloc, by standing before it. Link count.c into the program. */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_counts {
    uint64_t allocations; /* malloc, calloc, aligned ones, and realloc where it moves or begins */
    uint64_t bytes;       /* asked for */
    uint64_t live;        /* bytes in use now, as the allocator rounds them */
    uint64_t peak;        /* the most of that */
} bench_counts;

/* Since the last reset: all but `live`, and `peak` begins at `live`. All threads together. */
void bench_count_reset(void);
bench_counts bench_count_read(void);

#ifdef __cplusplus
}
#endif

#endif
