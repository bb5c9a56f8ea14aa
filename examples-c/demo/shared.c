/* shared.c: the count of holders, and reactions that are among them. */
#include "shared.h"

void shared_begin(struct shared *shared, void (*end)(void *context)) {
    atomic_init(&shared->holders, 1);
    shared->end = end;
}

void shared_drop(void *context) {
    struct shared *shared = context;
    if (atomic_fetch_sub(&shared->holders, 1) == 1) {
        shared->end(context);
    }
}

/* A reaction that cannot be made calls destroy, too: what is held here is always given back. */
static vow_promise *link_held(vow_promise *promise, vow_reaction reaction, void *context) {
    struct shared *shared = context;
    atomic_fetch_add(&shared->holders, 1);
    reaction.size = sizeof reaction;
    reaction.context = context;
    reaction.destroy = shared_drop;
    return vow_then_with(promise, &reaction);
}

vow_promise *shared_then(vow_promise *promise, vow_handler fn, void *context) {
    return link_held(promise, (vow_reaction){.on_fulfilled = fn}, context);
}

vow_promise *shared_catch(vow_promise *promise, vow_handler fn, void *context) {
    return link_held(promise, (vow_reaction){.on_rejected = fn}, context);
}
