/* Waiting until everything has come to rest, and comparing what does not depend on the order. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "errands.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void differ(const char *what, int number) {
    fprintf(stderr, "DIFFERENCE: %s (%d)\n", what, number);
    tell_of_errands();
    abort();
}

static bool all_plans_done(void) {
    for (int i = 0; i < s.plan_count; i++) {
        plan *self = &s.plans[i];
        if (m.context_done[i] && atomic_load(&self->destroyed) == 0) {
            return false;
        }
    }
    return true;
}

static bool hooks_done(void) {
    for (int i = 0; i < m.hook_count; i++) {
        hook_due due = m.hooks[i].due;
        bool ended = due == HOOK_CALLED || due == HOOK_DROPPED;
        if (due != HOOK_MAYBE && ended && atomic_load(&s.hooks[i].destroyed) == 0) {
            return false;
        }
    }
    return true;
}

static void check_hooks(void) {
    for (int i = 0; i < m.hook_count; i++) {
        hook_due due = m.hooks[i].due;
        int called = atomic_load(&s.hooks[i].called),
            destroyed = atomic_load(&s.hooks[i].destroyed);
        if (due == HOOK_MAYBE && called) {
            m.promises[m.resolvers[m.hooks[i].resolver].promise].lost = true;
            m.hooks[i].due = HOOK_CALLED;
        } else if (called != (due == HOOK_CALLED)) {
            differ("a hook is called or not", i);
        }
        if (destroyed != (m.hooks[i].due == HOOK_CALLED || due == HOOK_DROPPED)) {
            differ("a hook is destroyed or not", i);
        }
    }
}

static bool counted(uint64_t handlers) {
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    return now.handlers == handlers;
}

static bool nothing_left(uint64_t bytes) {
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    return now.live == 0 && now.pending == 0 && now.handlers == 0 && now.bytes == bytes;
}

/* Polls: when, as far as the model goes, is not told to anybody. */
#define WAIT_UNTIL(condition, what)                                                                \
    do {                                                                                           \
        time_t start = time(NULL);                                                                 \
        while (!(condition)) {                                                                     \
            struct timespec moment = {0, 20000};                                                   \
            if (time(NULL) - start > PATIENCE) {                                                   \
                differ(what, PATIENCE);                                                            \
            }                                                                                      \
            nanosleep(&moment, NULL);                                                              \
        }                                                                                          \
    } while (0)

/* Lists that share lists have values without measure: so many are compared. */
#define MOST_COMPARED 2000
static int compared;

static void compare_value(vow_value out, const model_value *value, int number);

static void compare_outcome(vow_value out, int number) {
    const model_promise *self = &m.promises[number];
    const model_value *value = &m.values[self->value];
    compared = 0;
    compare_value(out, value, number);
}

static void compare_value(vow_value out, const model_value *value, int number) {
    if (out.kind != value->kind) {
        differ("a value of another kind", number);
    }
    if (out.kind == VOW_LIST) {
        for (int i = 0; i < value->count && compared < MOST_COMPARED; i++) {
            compared++;
            compare_value(vow_list_at(out, (size_t)i), &m.values[value->items[i]], number);
        }
        return;
    }
    int64_t content = out.kind == VOW_ERROR ? vow_error_code(out) : out.as.integer;
    if (content != value->number) {
        differ("another value", number);
    }
}

static void compare_slots(void) {
    for (int i = 0; i < THREAD_SLOTS; i++) {
        if (s.promises[i] == NULL) {
            continue;
        }
        int number = s.promise_models[i];
        vow_value out = vow_none();
        bool settled = m.promises[number].state != VOW_PENDING;
        int state = vow_await(s.promises[i], settled ? PATIENCE * INT64_C(1000000000) : 0, &out);
        if (state != (int)m.promises[number].state) {
            differ("another state", number);
        }
        if (settled) {
            compare_outcome(out, number);
        }
        vow_value_release(out);
    }
}

/* Handlers of one promise on one serial executor ran in the order of their registration. */
static void compare_order(void) {
    for (int i = 0; i < s.plan_count; i++) {
        for (int j = 0; j < i; j++) {
            plan *late = &s.plans[i], *early = &s.plans[j];
            bool same = late->upstream == early->upstream && late->upstream >= 0 &&
                        late->executor == early->executor && late->executor < SERIALS;
            /* One whose token was cancelled reads something else. */
            same = same && m.promises[late->reaction].redirect < 0 &&
                   m.promises[early->reaction].redirect < 0;
            if (same && late->foretold && early->foretold &&
                atomic_load(&early->place) > atomic_load(&late->place)) {
                differ("a serial executor changed the order", late->reaction);
            }
        }
    }
}

void settle_down(void) {
    uint64_t waiting = 0;
    foretell();
    compare_slots();
    WAIT_UNTIL(all_plans_done(), "a context is not destroyed");
    WAIT_UNTIL(hooks_done(), "a hook is not called");
    check_hooks();
    for (int i = 0; i < m.promise_count; i++) {
        waiting += m.promises[i].wait == WAITS_UPSTREAM;
    }
    WAIT_UNTIL(counted(waiting), "reactions are counted that do not wait");
    for (int i = 0; i < s.plan_count; i++) {
        if (atomic_load(&s.plans[i].runs) != s.plans[i].foretold) {
            differ("a handler ran wrongly or not at all", s.plans[i].reaction);
        }
        if (atomic_load(&s.plans[i].destroyed) != m.context_done[i]) {
            differ("a context is destroyed too early", s.plans[i].reaction);
        }
    }
    compare_order();
}

void wait_for_all(bool (*done)(void), const char *what) {
    WAIT_UNTIL(done(), what);
}

void wait_for_the_end(uint64_t bytes_before) {
    WAIT_UNTIL(nothing_left(bytes_before), "something is left at the end");
}
