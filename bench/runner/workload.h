/* The main function of the programs in C and C++ that beside.py runs: it runs one workload for a
 * while, and prints the line of the benchmark's protocol. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct workload {
    const char *name;
    void (*pass)(size_t n); /* handles n items */
} workload;

/* Bytes of memory for each item that is alive; a pass that sets it is not timed. */
static double held = -1;

/* The number in the line of /proc/self/status that begins with `key`. */
static inline double status(const char *key) {
    char line[256];
    double number = -1;
    FILE *file = fopen("/proc/self/status", "r");
    EXPECT(file != NULL);
    while (number < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            number = atof(line + strlen(key));
        }
    }
    fclose(file);
    return number;
}

/* The cost of n items, since `before` was read, and the number of threads. */
static inline void hold_items(size_t n, double before) {
    held = (status("VmRSS:") - before) * 1024 / (double)n;
    printf("{\"ns_per_item\":%g,\"threads\":%g}\n", held, status("Threads:"));
}

static inline double clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int run_workload(int argc, char **argv, const workload *all) {
    EXPECT(argc == 3);
    size_t n = strtoull(argv[2], NULL, 10);
    const char *seconds = getenv("BENCH_SECONDS");
    while (all->name != NULL && strcmp(all->name, argv[1]) != 0) {
        all++;
    }
    EXPECT(all->name != NULL && n > 0);
    all->pass(n); /* to warm up */
    double processor = clock_ns(CLOCK_PROCESS_CPUTIME_ID), passes = 0;
    double begin = clock_ns(CLOCK_MONOTONIC), now = begin;
    while (held < 0 && now - begin < (seconds ? atof(seconds) : 0.2) * 1e9) {
        all->pass(n);
        now = clock_ns(CLOCK_MONOTONIC);
        passes++;
    }
    if (held < 0) {
        processor = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - processor;
        printf("{\"ns_per_item\":%.6g,\"processor_ns_per_item\":%.6g}\n",
               (now - begin) / passes / (double)n, processor / passes / (double)n);
    }
    fflush(stdout);
    _exit(0); /* libraries' threads may still be there */
}

#endif
