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
/* rings_through.c */
extern const scenario ring_through_reactions, ring_through_one_reaction, ring_past_rejected,
    ring_through_late_reaction, ring_through_handlers;
/* finally.c */
extern const scenario ring_through_finally, ring_through_watched_finally;
extern const scenario ring_through_finally_and_reaction, adopt_waiting_finally;
/* rings_read.c */
extern const scenario ring_awaited, ring_awaited_inside, ring_released, ring_released_handled;
/* results.c */
extern const scenario result_before_context, result_before_release, inner_before_context,
    result_before_object, result_before_input;
/* serial.c */
extern const scenario deadlock_by_work, deadlock_by_following, no_deadlock, serial_order;

#endif
