/* A step of errands: reads who waits for whom, and has two threads with a loop each do it all. */
#include "errands.h"
#include "../bytes.h"
#include "threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 6 };

static const char *const desks[DESKS] = {"loop 0",     "loop 1", "serial 0", "custom serial",
                                         "serial 1",   "queue",  "barrier",  "custom",
                                         "concurrent", "pool",   "inline"};
static const char *const ways[WAYS] = {"each",       "all",     "all_settled", "any",      "some",
                                       "race",       "timeout", "scope",       "chain",    "delay",
                                       "descriptor", "token",   "cancel",      "progress", "adopt",
                                       "catch_if",   "map",     "reduce",      "repeat",   "retry"};

outing o;

static vow_statistics before;
static int roots[LOOPS];

/* Errands may run on desks from `floor` on, and on those that hold up nobody. */
static desk choose_desk(desk floor) {
    desk chosen = (desk)(next_byte() % DESKS);
    bool is_out_of_order = o.orderly && chosen < DESK_CONCURRENT && chosen < floor;
    bool is_unknown = !o.orderly && chosen == DESK_CUSTOM;
    return is_out_of_order || is_unknown ? DESK_POOL : chosen;
}

/* An inline errand holds up what its parent holds up, so the floor is its parent's. */
static int plan_errand(int parent, desk floor, int depth) {
    int number = o.count++;
    errand *self = &o.errands[number];
    unsigned shape = next_byte();
    self->parent = parent;
    self->descriptor = -1;
    self->desk = choose_desk(floor);
    self->number = number + 1;
    self->fails = shape % 8 == 7;
    self->form = next_byte();
    bool holds_up = self->desk < DESK_CONCURRENT;
    bool may_run = !o.orderly || (!holds_up && floor == DESK_LOOP_0);
    self->way = (way)(next_byte() % (may_run ? WAYS : WAYS_ANYWHERE));
    desk next = o.orderly && holds_up ? self->desk + 1 : floor;
    for (unsigned i = 0; i < shape / 8 % (CHILDREN + 1) && depth < DEEPEST; i++) {
        if (o.count < ERRANDS - LOOPS && program.left > 0) {
            int child = plan_errand(number, next, depth + 1);
            self->children[self->count++] = child;
        }
    }
    /* Nobody can know who writes to a descriptor; and inline, it is who waits. */
    if (self->way == WAY_DESCRIPTOR &&
        (!o.orderly || self->count == 0 || o.errands[self->children[0]].desk == DESK_INLINE)) {
        self->way = WAY_EACH;
    }
    trace("%*serrand %d on %s, %s of %d, form %u%s", 2 * depth, "", number, desks[self->desk],
          ways[self->way], self->count, self->form, self->fails ? ", fails" : "");
    return number;
}

/* Which are under way. */
static void tell_of_errands(void) {
    for (int i = 0; i < o.count && !atomic_load(&o.over); i++) {
        errand *self = &o.errands[i];
        int begun = atomic_load(&self->begun), ended = atomic_load(&self->ended);
        if (begun != ended || atomic_load(&self->listened) != atomic_load(&self->deaf)) {
            fprintf(stderr,
                    "errand %d: begun %d, run %d, ended %d, listeners %d of %d, refused %d\n", i,
                    begun, atomic_load(&self->runs), ended, atomic_load(&self->deaf),
                    atomic_load(&self->listened), atomic_load(&self->refused));
        }
    }
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    fprintf(stderr, "live %lld, before %lld; handlers %lld, before %lld\n", (long long)now.live,
            (long long)before.live, (long long)now.handlers, (long long)before.handlers);
}

void differ(const char *what, int number) {
    fprintf(stderr, "DIFFERENCE: %s (%d)\n", what, number);
    tell_of_errands();
    abort();
}

static void *take_part(void *argument) {
    int number = (int)(intptr_t)argument;
    vow_loop *loop = o.loops[number];
    vow_loop_run_once(loop, 0); /* it is this thread's from now on */
    vow_promise *promise = begin_errand(roots[number]);
    vow_value out;
    int state = vow_await(promise, VOW_FOREVER, &out);
    if (state < 0) {
        if (o.orderly || state != VOW_EDEADLOCK) {
            differ("a thread's wait is refused", state);
        }
        state = vow_await(promise, PATIENCE * INT64_C(1000000000), &out);
    }
    if (state == (int)VOW_PENDING || !is_result(out, roots[number])) {
        differ("an errand's result", state);
    }
    vow_value_release(out);
    vow_promise_release(promise);
    while (!atomic_load(&o.over)) {
        vow_loop_run_once(loop, 200000);
    }
    return NULL;
}

static bool is_all_over(void) {
    vow_statistics now = {.size = sizeof now};
    for (int i = 0; i < o.count; i++) {
        errand *self = &o.errands[i];
        if (atomic_load(&self->begun) != atomic_load(&self->ended) ||
            atomic_load(&self->listened) != atomic_load(&self->deaf)) {
            return false;
        }
    }
    vow_stats(&now);
    /* What a step before has left to other threads may go meanwhile; at the end nothing is left. */
    return now.live <= before.live && now.handlers <= before.handlers;
}

static bool threads_took_part(void) {
    return atomic_load(&o.errands[roots[0]].ended) == 1 &&
           atomic_load(&o.errands[roots[1]].ended) == 1;
}

static void open_loops(void) {
    for (int i = 0; i < LOOPS; i++) {
        o.loops[i] = vow_loop_create();
        o.executors[DESK_LOOP_0 + i] = vow_executor_retain(vow_loop_executor(o.loops[i]));
    }
}

static void close_loops(void) {
    for (int i = 0; i < LOOPS; i++) {
        vow_executor_release(o.executors[DESK_LOOP_0 + i]);
        vow_loop_destroy(o.loops[i]);
    }
}

void errands_step(void) {
    pthread_t threads[LOOPS];
    memset(&o, 0, sizeof o);
    o.orderly = next_byte() % 2 == 0;
    for (int i = 0; i < LOOPS; i++) {
        roots[i] = plan_errand(-1, DESK_LOOP_0, 0);
    }
    unsigned fibers = next_byte();
    for (int i = 0; i < o.count; i++) {
        o.errands[i].is_fiber = fibers >> i % 8 & 1;
    }
    trace("errands%s, fibers %u", o.orderly ? ", in order" : "", fibers);
    before = (vow_statistics){.size = sizeof before};
    vow_stats(&before);
    open_desks();
    open_loops();
    for (int i = 0; i < LOOPS; i++) {
        pthread_create(&threads[i], NULL, take_part, (void *)(intptr_t)i);
    }
    wait_for_all(threads_took_part, "an errand waits for ever");
    wait_for_all(is_all_over, "something of the errands is left");
    atomic_store(&o.over, true);
    for (int i = 0; i < LOOPS; i++) {
        pthread_join(threads[i], NULL);
    }
    close_loops();
    close_desks();
}
