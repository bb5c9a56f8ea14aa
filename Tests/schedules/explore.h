/* Which schedules are executed: all up to a bound of preemptions, random ones, or a given one. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "scenario.h"

/* Before an execution, one of these says what it is to be. */

/* The first of an exhaustive search that takes at most `bound` preemptions. */
void explore_first(int bound);
/* The next one; false when the search is over. */
bool explore_next(void);
/* As the seed says. `length` is how many decisions executions have, about. */
void explore_seed(uint64_t seed, int length);
/* As written by explore_report; false: it cannot be read. */
bool explore_schedule(const char *text);

/* Then, before and after the execution itself: */
void explore_begin(const char *name);
void explore_end(void);

/* Of the execution that was: */
int explore_depth(void);
int explore_preemptions(void);

#endif
