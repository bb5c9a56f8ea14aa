/* Divides the 256 bytes among the chapters. */
#include "table.h"

enum { LAST_OLD = 127, OLD, LATE = 192 };

/* Chapters 3 to 6, twice; the last byte is for other threads. */
static step early(unsigned byte) {
    if (byte < 6) {
        return (step){STEP_PROMISE, 0};
    }
    if (byte < 9) {
        return (step){STEP_PROMISE, 1};
    }
    if (byte < 17) {
        return (step){STEP_PROMISE, byte - 7 < 7 ? byte - 7 : 6};
    }
    if (byte < 27) {
        return (step){STEP_RESOLVER, byte < 22 ? 0 : byte - 22 < 3 ? byte - 22 : 3};
    }
    if (byte < 49) {
        return (step){STEP_CHAIN, (byte - 27) % 8};
    }
    if (byte < 55) {
        return (step){STEP_VALUE, byte - 49 < 3 ? byte - 49 : 0};
    }
    return byte < 63 ? (step){STEP_EXECUTOR, byte - 55} : (step){STEP_WRONG, 0};
}

/* Chapters 7, 8, 14 to 16, and the rest of 10. */
static step timed(unsigned byte) {
    if (byte < 14) {
        return (step){STEP_LOOP, byte % 7};
    }
    if (byte < 28) {
        return (step){STEP_TIME, byte % 7};
    }
    if (byte < 40) {
        return (step){STEP_MACHINE, byte % 4};
    }
    if (byte < 51) {
        return (step){STEP_SCOPE, byte % 5};
    }
    return byte < 60 ? (step){STEP_PROGRESS, byte % 3} : (step){STEP_LOOK, byte % 4};
}

/* Chapters 9 to 11, and vow_catch_if. */
static step late(unsigned byte) {
    if (byte < 32) {
        return (step){STEP_CANCEL, byte % 16};
    }
    return byte < 52 ? (step){STEP_COMBINE, byte % 8} : (step){STEP_CONTEXT, byte % 4};
}

step step_of(uint8_t byte) {
    if (byte >= LATE) {
        return late(byte - LATE);
    }
    return byte >= OLD        ? timed(byte - OLD)
           : byte == LAST_OLD ? (step){STEP_THREADS, 0}
                              : early(byte % 64);
}
