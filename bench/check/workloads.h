/* What the workloads share: where they keep what they make, and how they are listed. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <vow.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The largest size; what a workload keeps stands here, so that it takes no memory of its own. */
#define MOST 20000
extern vow_promise *promises[MOST], *derived[MOST];
extern vow_resolver *resolvers[MOST];

extern size_t items; /* how many the workload has made */
extern size_t ran;   /* handlers that ran; on one thread at a time */

void make(size_t count);
void resolve(size_t index);
void release_promises(size_t count);
vow_promise *then_on(vow_promise *promise, vow_handler handler, vow_executor *executor);
vow_value count_run(vow_value input, void *context); /* counts in `ran` */
char state_of(pid_t thread);

typedef struct workload {
    const char *name;
    const char *title; /* what one item is */
    size_t
        size; /* it is run with this and with twice as much; for a growth, four times as much too */
    void (*run)(size_t size);
    bool has_threads; /* then instructions are not exact, and not taken */
} workload;

/* Those whose work must grow as their size does. */
extern const workload curves[];
extern const size_t curve_count;

#endif
