/* What a peer written in C or C++ gives the benchmark: a table of workloads. The main function, the
 * timing by Google Benchmark and the counting are in peer.cpp, the same for all. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One workload. Functions that are not needed are NULL. All get N; a pass handles N items. */
typedef struct peer_workload {
    const char *name;
    void (*pass)(size_t n);    /* timed, repeated */
    void (*prepare)(size_t n); /* before each pass, not timed */
    void (*clean)(size_t n);   /* after each pass, not timed */
    void (*begin)(size_t n);   /* once, before all */
    bool held;                 /* W9: one pass, whose memory is measured before `clean` */
} peer_workload;

/* Defined by the peer; ends with an entry whose name is NULL. */
extern const peer_workload peer_workloads[];

/* The version of the library that is measured. */
const char *peer_version(void);

/* Aborts when the work was not done: a benchmark that does nothing is fast. */
static inline void peer_expect(bool right, const char *what) {
    if (!right) {
        fprintf(stderr, "benchmark: %s\n", what);
        abort();
    }
}

/* Memory for the benchmark itself, zeroed and touched, so that it costs nothing later. */
void *peer_array(size_t count, size_t size);

#ifdef __cplusplus
}
#endif

#endif
