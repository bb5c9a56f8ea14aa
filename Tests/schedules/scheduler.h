/* Real threads of which exactly one runs at a time, and the decisions about which. */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULER_THREADS 4

/* Steps after which an execution counts as one that does not end. */
#define SCHEDULER_STEPS 20000

/* Makes the threads and lets each call enter() once, before anything is scheduled. */
void scheduler_start(void (*enter)(void));

/* Runs count bodies, one on each thread, until all have returned. */
void scheduler_run(void (*const *bodies)(void), int count);

/* On a scheduled thread: blocks until ready(argument) says yes. It is asked by any thread, between
 * two steps, and must change nothing. */
void scheduler_block_until(bool (*ready)(const void *argument), const void *argument);

/* A step of the scenario itself: another thread may go on here. Elsewhere what a scenario does
 * between two steps of the core is one step. */
void scheduler_point(void);

/* The number of the calling thread, from 0; -1 outside of scheduler_run. */
int scheduler_self(void);

/* Ends the program: what happened, under which schedule, and how to see it again. */
_Noreturn void scheduler_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Every step is written to standard error. */
extern bool scheduler_traces;

/* What the scheduler asks of whoever explores: */

/* One of count > 1 threads goes on. If `continues`, threads[0] is the one that runs now and could
 * go on, and any other choice is a preemption. Returns an index. */
int explore_choose(const int *threads, int count, bool continues);

/* Writes the schedule of the execution that runs now, and the command that repeats it. */
void explore_report(void);

#endif
