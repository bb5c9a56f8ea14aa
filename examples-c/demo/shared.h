/* shared.h: a context that several handlers of a chain share; whoever lets go last frees it.
 *
 * No single handler can know when that is. One may still be running when its promise is cancelled,
 * as a time-out does; and when memory runs out while a chain is being built, the part that is there
 * goes on. So each handler holds the context until Vow says, by vow_reaction.destroy, that this one
 * is through with it. */
#ifndef DEMO_SHARED_H
#define DEMO_SHARED_H

#include <stdatomic.h>

#include "vow.h"

/* The first member of such a context. */
struct shared {
    atomic_size_t holders;
    void (*end)(void *context);
};

/* One holder, the caller; `end` frees the context after the last one. */
void shared_begin(struct shared *shared, void (*end)(void *context));

/* The caller does not hold the context any more. */
void shared_drop(void *context);

/* As vow_then and vow_catch, with a context that begins with a struct shared. */
vow_promise *shared_then(vow_promise *promise, vow_handler fn, void *context);
vow_promise *shared_catch(vow_promise *promise, vow_handler fn, void *context);

#endif
