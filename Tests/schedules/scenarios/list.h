/* The scenarios of every file here. */
#ifndef LIST_H
#define LIST_H

#include "../scenario.h"

/* settle.c */
extern const scenario resolve_resolve, register_settle, two_register_settle, one_chain_settle;
/* inline.c */
extern const scenario put_off, put_off_twice, settle_inside;
/* release.c */
extern const scenario last_resolver, broken_or_resolved, value_release, executor_release;
/* await.c */
extern const scenario await_settle, await_time_out, two_await, await_and_free, await_follower;
/* adopt.c */
extern const scenario adopt_settle_register, adopt_chain, adopt_finally, adopt_thenable;
/* yield.c */
extern const scenario walk_past_dying, walk_behind_dying, two_die, held_while_dying;
/* rings.c */
extern const scenario ring_of_one, ring_of_two, ring_of_three, ring_of_three_by_two, ring_with_tail;
/* serial.c */
extern const scenario deadlock_by_work, deadlock_by_following, no_deadlock, serial_order;

#endif
