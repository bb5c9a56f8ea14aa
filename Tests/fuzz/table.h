/* What the bytes mean: one table for both interpreters, by the chapters of vow.h. */
#ifndef VOW_FUZZ_TABLE_H
#define VOW_FUZZ_TABLE_H

#include <stdint.h>

typedef enum chapter {
    STEP_PROMISE,
    STEP_RESOLVER,
    STEP_CHAIN,
    STEP_VALUE,
    STEP_EXECUTOR,
    STEP_WRONG,
    STEP_CANCEL,
    STEP_COMBINE,
    STEP_CONTEXT,
    STEP_LOOP,    /* from here on the free interpreter's alone */
    STEP_TIME,    /* delays, time-outs, descriptors */
    STEP_MACHINE, /* what runs functions: map, reduce, repeat, retry */
    STEP_SCOPE,
    STEP_PROGRESS,
    STEP_THREADS, /* crowds and errands */
    STEP_LOOK     /* statistics, labels, tracing */
} chapter;

typedef struct step {
    chapter chapter;
    unsigned which;
} step;

step step_of(uint8_t byte);

#endif
