/* What a handler on another thread will do is fixed when it is registered; the model foretells it.
 */
#ifndef VOW_FUZZ_PLAN_H
#define VOW_FUZZ_PLAN_H

#include "../model.h"

#include <stdatomic.h>

enum { PLANS = 256, THREAD_SLOTS = 8, SERIALS = 2 };

/* Seconds after which something will never come, however busy the machine is. */
#ifndef PATIENCE
#define PATIENCE 100
#endif

typedef enum plan_result {
    RETURNS_INPUT,
    RETURNS_NUMBER,
    RETURNS_ERROR,
    RETURNS_PROMISE /* one that is its own, settled before or later */
} plan_result;

typedef struct plan {
    plan_result result;
    int64_t number;
    vow_promise *promise; /* consumed by the handler, else by the destructor */
    int model;            /* of that promise */
    int reaction;
    int executor;
    int upstream, order;
    atomic_int runs;
    atomic_int destroyed;
    atomic_int place; /* among all handlers that ran */
    bool foretold;    /* the model has run it */
} plan;

/* What is called on cancellation; its number is the model's. */
typedef struct thread_hook {
    atomic_int called, destroyed;
} thread_hook;

/* Everything that one program has. */
typedef struct stage {
    vow_promise *promises[THREAD_SLOTS];
    int promise_models[THREAD_SLOTS];
    vow_resolver *resolvers[THREAD_SLOTS];
    int resolver_models[THREAD_SLOTS];
    bool plain[THREAD_SLOTS]; /* the resolver is for numbers and errors only */
    plan plans[PLANS];
    int plan_count;
    thread_hook hooks[MODEL_HOOKS];
    vow_cancel_source *source;
    int source_model;
    vow_executor *serials[SERIALS];
    atomic_int places;
} stage;

extern stage s;

/* The handler, its destructor, and what the model says about all that can run. */
vow_value run_plan(vow_value input, void *context);
void end_plan(void *context);
void foretell(void);
void on_thread_hook(void *context);
void on_thread_hook_destroy(void *context);

/* Waits until the library has done all that the model says, and compares. */
void settle_down(void);
void wait_for_all(bool (*done)(void), const char *what);
void wait_for_the_end(uint64_t bytes_before);

/* crowd.c */
void crowd_step(void);

_Noreturn void differ(const char *what, int number);

#endif
