/* What a workload says while it runs, and each measure takes in its own way: see README.md. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include <stddef.h>

/* Before anything of the library is used. */
void measure_start(void);

/* What lies between these two is measured, on all threads; several times, if need be. */
void measure_begin(void);
void measure_end(void);

/* Between them: all that the workload makes is alive now. */
void measure_held(void);

/* Before them: writes to this object are counted apart. */
void measure_watch(const void *object, size_t size);

/* Prints a line "MEASURE TOTAL" for each measure taken. */
void measure_print(void);

#endif
