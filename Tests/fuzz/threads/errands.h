/* Errands: handlers that wait for handlers, on every executor and through everything that can be
 * waited for. What an errand ends with is fixed beforehand, so each wait can be checked.
 */
#ifndef VOW_FUZZ_ERRANDS_H
#define VOW_FUZZ_ERRANDS_H

#include "vow.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ERRANDS = 48, CHILDREN = 3, LOOPS = 2 };

/* Where errands run, by rank: in an orderly step an errand that holds up its executor waits only
 * for what stands on later ones, so that no wait may be refused. */
typedef enum desk {
    DESK_LOOP_0,
    DESK_LOOP_1,
    DESK_SERIAL_0,
    DESK_CUSTOM_SERIAL,
    DESK_SERIAL_1,
    DESK_QUEUE, /* a serial dispatch queue */
    DESK_BARRIER,
    DESK_CUSTOM, /* two threads, of which the library does not know; in orderly steps only */
    DESK_CONCURRENT,
    DESK_POOL,
    DESK_INLINE,
    DESKS
} desk;

typedef enum way {
    WAY_EACH,
    WAY_ALL,
    WAY_ALL_SETTLED,
    WAY_ANY,
    WAY_SOME,
    WAY_RACE,
    WAY_TIMEOUT,
    WAY_SCOPE,
    WAY_CHAIN,
    WAY_DELAY,
    WAY_DESCRIPTOR,
    WAY_TOKEN,
    WAY_CANCEL,
    WAY_PROGRESS,
    WAY_ADOPT,
    WAYS_ANYWHERE,
    /* What runs functions, on the executor of who makes it: not where that is held up. */
    WAY_CATCH_IF = WAYS_ANYWHERE,
    WAY_MAP,
    WAY_REDUCE,
    WAY_REPEAT,
    WAY_RETRY,
    WAYS
} way;

typedef struct errand {
    desk desk;
    way way;
    unsigned form; /* bits for the way */
    int64_t number;
    bool fails;
    bool is_fiber; /* its function is a fiber's: only that of a map and its like holds a thread */
    int children[CHILDREN], count;
    int parent;     /* -1: the program's threads */
    int descriptor; /* a byte is to be written to it; -1: none */
    atomic_int begun, runs, ended;
    atomic_int listened, deaf; /* its listeners, and those that are destroyed */
    atomic_bool refused;       /* a wait of it, or a fiber's was answered by its cancellation */
} errand;

/* The whole step. */
typedef struct outing {
    errand errands[ERRANDS];
    int count;
    bool orderly;
    atomic_bool over;
    vow_loop *loops[LOOPS];
    vow_executor *executors[DESKS];
} outing;

extern outing o;

/* errand.c: begins an errand; its promise is the caller's. */
vow_promise *begin_errand(int number);
/* Waits for a promise (consumed) that must settle: its state, with out (owned). VOW_PENDING: the
 * wait was refused, as it may be where nothing is in order, or the fiber was cancelled. */
vow_state wait_until_settled(errand *self, vow_promise *promise, vow_value *out);
/* Waits for the promise (consumed) of a child, and checks what that ends with. */
void wait_for_child(errand *self, vow_promise *promise, int number);
/* A wait for one of several has ended so. Checks that this is the error of one that fails. */
void check_failure(const errand *self, vow_value error);
bool is_result(vow_value value, int number);
bool is_own(vow_value value, int64_t code); /* free/results.c */

/* ways.c, machines.c: begins the children and waits for them. What the errand is to return instead
 * of its own result (owned), or vow_none(). */
vow_value wait_for_children(errand *self);
void run_machine(errand *self);
vow_value result_of(const errand *self);

/* desks.c */
void open_desks(void);
void close_desks(void);

#endif
