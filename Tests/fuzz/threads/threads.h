/* Steps that need other threads, during which the program itself stands still. */
#ifndef VOW_FUZZ_THREADS_H
#define VOW_FUZZ_THREADS_H

#include "vow.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Seconds after which something will never come, however busy the machine is. */
#ifndef PATIENCE
#define PATIENCE 100
#endif

void crowd_step(void);
void errands_step(void);

_Noreturn void differ(const char *what, int number);
/* Polls: when, is not told to anybody. */
void wait_for_all(bool (*done)(void), const char *what);

#endif
