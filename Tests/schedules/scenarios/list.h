/* The scenarios of every file here. */
#ifndef LIST_H
#define LIST_H

#include "../scenario.h"

/* settle.c */
extern const scenario resolve_resolve, register_settle, two_register_settle, one_chain_settle;
/* inline.c */
extern const scenario put_off, put_off_twice, settle_inside, put_off_in_turn;
/* release.c */
extern const scenario last_resolver, broken_or_resolved, value_release, executor_release;
/* await.c */
extern const scenario await_settle, await_time_out, two_await, await_and_free, await_follower;
/* adopt.c */
extern const scenario adopt_settle_register, adopt_chain, adopt_finally, adopt_thenable;
/* yield.c */
extern const scenario walk_past_dying, walk_behind_dying, two_die, held_while_dying,
    stand_with_dying, cancel_both_moving;
/* handles.c */
extern const scenario handle_released_settle, handle_released_joined, handle_released_cancel,
    handle_released_ring, handles_released, resolver_held_settle, resolver_held_cancel,
    resolver_released_meanwhile;
/* rings.c */
extern const scenario ring_of_one, ring_of_two, ring_of_three, ring_of_three_by_two, ring_with_tail;
/* rings_through.c */
extern const scenario ring_through_reactions, ring_through_one_reaction, ring_past_rejected,
    ring_through_late_reaction, ring_through_handlers;
/* rings_combined.c */
extern const scenario ring_through_all, ring_through_scopes;
/* crossed.c */
extern const scenario crossed_waits, crossed_results, rival_resolved, rival_resolved_of_any,
    rival_rejected;
/* finally.c */
extern const scenario ring_through_finally, ring_through_watched_finally;
extern const scenario ring_through_finally_and_reaction, adopt_waiting_finally;
/* rings_read.c */
extern const scenario ring_awaited, ring_awaited_inside, ring_released, ring_released_handled;
/* results.c */
extern const scenario result_before_context, result_before_release, inner_before_context,
    late_before_context, result_before_object, result_before_input;
/* serial.c */
extern const scenario deadlock_by_work, deadlock_by_following, deadlock_by_two_followings,
    no_deadlock, serial_order;
/* cancel.c */
extern const scenario cancel_resolve, cancel_cancel, cancel_inline_reaction, cancel_handed_over,
    cancel_running, cancel_running_twice, cancel_first_of_batch, cancel_last_of_batch,
    cancel_of_two_batches, cancel_in_second, cancel_passing, cancel_chain, cancel_both_links,
    cancel_given_up, cancel_neighbours, cancel_and_come, cancel_settled_neighbours,
    cancel_delivering, cancel_both_readers, cancel_one_reader, cancel_awaited,
    cancel_awaited_reaction, cancel_beside_waiter;
/* cancel_waits.c */
extern const scenario cancel_attaching, cancel_moved, cancel_moved_by_hand, cancel_both_followers;

/* cancel_follow.c */
extern const scenario cancel_follower, cancel_adopting, cancel_path, cancel_path_settled,
    cancel_moving, cancel_one_moving, cancel_sibling_moving, cancel_while_dying, cancel_ring,
    cancel_ring_unheld, cancel_moving_ring, cancel_waiting_finally, cancel_finally,
    cancel_followed_finally, cancel_thenable;
/* cancel_ends.c */
extern const scenario cancel_stays, cancel_withdrawn, cancel_withdrawn_on_its_way,
    cancel_late_member, cancel_clean_up, cancel_clean_up_elsewhere, cancel_clean_up_above,
    cancel_returning, kept_context, cancel_kept_context, cancel_map_running;
/* descents.c */
extern const scenario descent_place, descent_link, descent_twice, descent_newcomer, descent_settled,
    descent_moving, descent_moving_twice;
/* interest.c */
extern const scenario hook_cancel, hook_release, hook_resolve, hook_release_resolve,
    release_or_broken, hook_last_resolver, release_two_readers, release_cancel, release_follower,
    release_adopting, release_adopting_resolved, release_adopting_settled, release_path,
    release_passing, release_observed, release_shields, release_shields_cancelled;
/* tokens.c */
extern const scenario token_settle, token_settle_unheld, token_passes, token_handed_over,
    token_running, token_running_passes, token_and_cancel, token_cancel_running, token_register,
    token_register_settle, token_chain, token_following, token_begins_to_follow, token_hook,
    token_hook_release, token_two_sources, token_through, linked_parents, linked_made,
    linked_released, linked_unused, token_shared, linked_grandchild;
extern const scenario leave_token, leave_token_both, leave_resolver, leave_resolver_both,
    leave_unread, leave_resolved, leave_and_come, linked_token_released, linked_token_leaves,
    linked_orphan, linked_orphan_released, linked_other_goes;
/* shortcuts.c */
extern const scenario link_two_readers, only_member, last_reader, cancel_released,
    cancel_released_running, cancel_itself, release_follower_of_link, first_of_two_waits,
    second_of_two_waits, then_at_once;
/* progress.c */
extern const scenario progress_settle, progress_twice, progress_listen, progress_release,
    progress_serial, progress_leave;
/* machines.c */
extern const scenario machine_looked_through;
/* scopes.c */
extern const scenario scope_let_go, scope_end_cancelled, scope_added_to, scope_closed_twice;

#endif
