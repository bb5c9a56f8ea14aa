/* G12, G3: handlers that return a promise, one after the other on a serial executor, each cancelled
 * in the moment in which it begins to follow that promise. STRESS_ROUNDS: rounds. */
#include "stress.h"

#define TOGETHER 128
#define PATH 200

typedef struct link {
    struct batch *batch;
    vow_promise *promise;
    atomic_bool begun, met; /* the handler and who cancels it wait for each other */
    bool cancelled;
} link_state;

typedef struct batch {
    vow_promise *path[PATH]; /* each follows the next one, and is held, so that none drops out */
    vow_resolver *last;
    atomic_int through; /* links whose handler has returned */
    link_state links[TOGETHER];
} batch;

static vow_value return_promise(vow_value input, void *context) {
    link_state *link = context;
    (void)input;
    vow_promise *promise = vow_promise_retain(link->batch->path[0]);
    atomic_store(&link->begun, true);
    while (!atomic_load(&link->met)) {
        sched_yield();
    }
    return vow_from_promise(promise);
}

static void end_link(void *context) {
    link_state *link = context;
    atomic_fetch_add(&link->batch->through, 1);
}

static void begin(link_state *link, vow_promise *start, vow_executor *executor) {
    vow_reaction reaction = {.size = sizeof reaction};
    reaction.on_fulfilled = return_promise;
    reaction.context = link;
    reaction.destroy = end_link;
    reaction.executor = executor;
    atomic_store(&link->begun, false);
    atomic_store(&link->met, false);
    link->promise = vow_then_with(vow_promise_retain(start), &reaction);
}

static void make_path(batch *all) {
    all->path[PATH - 1] = vow_promise_create(&all->last);
    for (int i = PATH - 2; i >= 0; i--) {
        vow_resolver *resolver;
        all->path[i] = vow_promise_create(&resolver);
        vow_resolve(resolver, vow_from_promise(vow_promise_retain(all->path[i + 1])));
        vow_resolver_release(resolver);
    }
}

static void end_path(batch *all) {
    for (int i = 0; i < PATH; i++) {
        vow_promise_release(all->path[i]);
    }
    vow_resolver_release(all->last);
}

/* Of every link that was cancelled the outcome is that, and of the others the followed promise's.
 */
static void judge(link_state *link) {
    vow_value outcome;
    int state = vow_await(link->promise, VOW_FOREVER, &outcome);
    if (link->cancelled) {
        CHECK_INT_EQ(state, VOW_REJECTED);
        CHECK_INT_EQ(outcome.kind, VOW_ERROR);
        CHECK_INT_EQ(vow_error_code(outcome), VOW_ECANCELLED);
    } else {
        CHECK_INT_EQ(state, VOW_FULFILLED);
        CHECK_INT_EQ(outcome.as.integer, 7);
    }
    vow_value_release(outcome);
    vow_promise_release(link->promise);
}

TEST("G12: a handler's promise, cancelled while it begins to follow, has no other outcome") {
    vow_executor *executor = vow_executor_serial("follow");
    uint64_t random = random_seed(1);
    batch all;
    for (long round = size_of_run("STRESS_ROUNDS", 1000); round > 0; round--) {
        vow_resolver *resolver;
        vow_promise *start = vow_promise_create(&resolver);
        make_path(&all);
        atomic_store(&all.through, 0);
        for (int i = 0; i < TOGETHER; i++) {
            all.links[i].batch = &all;
            begin(&all.links[i], start, executor);
        }
        vow_resolve(resolver, vow_none());
        for (int i = 0; i < TOGETHER; i++) {
            link_state *link = &all.links[i];
            while (!atomic_load(&link->begun)) {
                sched_yield();
            }
            atomic_store(&link->met, true);
            random_pause(&random);
            link->cancelled = vow_cancel(link->promise);
        }
        vow_resolve(all.last, vow_int(7));
        for (int i = 0; i < TOGETHER; i++) {
            judge(&all.links[i]);
        }
        while (atomic_load(&all.through) < TOGETHER) {
            sched_yield();
        }
        vow_promise_release(start);
        vow_resolver_release(resolver);
        end_path(&all);
    }
    vow_executor_release(executor);
}
