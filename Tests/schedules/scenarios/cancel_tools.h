/* What the scenarios of cancelling share. */
#ifndef VOW_SCHEDULES_CANCEL_TOOLS_H
#define VOW_SCHEDULES_CANCEL_TOOLS_H

#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it;
static watched links[4];
static heard hook;
static bool has_cancelled[2], has_resolved, ended;
static list_executor executor;

static inline void start(void) {
    it = defer();
    memset(links, 0, sizeof links);
    memset(&hook, 0, sizeof hook);
    has_cancelled[0] = has_cancelled[1] = has_resolved = ended = false;
}

/* Whoever reads it is a reaction, or waits. */
static inline void let_go_of_promise(void) {
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static inline void let_go(void) {
    for (int i = 0; i < 4; i++) {
        let_go_of_watched(&links[i]);
    }
    release(&it);
}

static inline void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
    ended = true;
}

static inline void cancel_promise(void) {
    has_cancelled[0] = vow_cancel(it.promise);
}

static inline void cancel_0(void) {
    has_cancelled[0] = vow_cancel(links[0].promise);
}

static inline void cancel_1(void) {
    has_cancelled[1] = vow_cancel(links[1].promise);
}

#endif
