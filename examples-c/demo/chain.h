/* chain.h: the main job, three requests of which each needs the answer before it. */
#ifndef DEMO_CHAIN_H
#define DEMO_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "vow.h"

/* What every run needs; borrowed until its promise settles. */
struct chain_plan {
    vow_loop *loop; /* where the client runs; NULL: on libdispatch's threads */
    unsigned port;
    int64_t timeout_ns; /* for each request */
    bool verbose;       /* print each step */
};

/* The domain of answers that are not what the chain needs. */
#define SHOP_DOMAIN "shop"
#define SHOP_NO_JSON 1 /* the body is no JSON */
#define SHOP_UNFIT 2   /* it is, but something that is needed is not in it */

/* Gets a token, the list, and the last item of the list. Returns a promise (owned) of a string that
 * says what the item is; every failure on the way rejects it. */
vow_promise *chain_run(const struct chain_plan *plan);

/* Waits for a promise (consumed), running the plan's loop meanwhile if there is one. Returns its
 * state and *out (owned), as vow_await does. */
int chain_wait(const struct chain_plan *plan, vow_promise *promise, vow_value *out);

#endif
