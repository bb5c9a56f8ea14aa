/* What the scenarios of cancelled followers share. */
#ifndef VOW_SCHEDULES_CANCEL_FOLLOW_TOOLS_H
#define VOW_SCHEDULES_CANCEL_FOLLOW_TOOLS_H

#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred outer, middle, inner, source;
static watched link, later;
static heard hook;
static bool has_cancelled, has_settled;

static inline void start(void) {
    outer = defer();
    middle = defer();
    inner = defer();
    source = defer();
    memset(&link, 0, sizeof link);
    memset(&later, 0, sizeof later);
    memset(&hook, 0, sizeof hook);
    has_cancelled = has_settled = false;
}

static inline void let_go(void) {
    let_go_of_watched(&link);
    let_go_of_watched(&later);
    release(&outer);
    release(&middle);
    release(&inner);
    release(&source);
}

static inline void settle_inner(void) {
    has_settled = vow_resolve(inner.resolver, vow_int(9));
}

static inline void cancel_outer(void) {
    has_cancelled = vow_cancel(outer.promise);
}

static inline void run_link(void) {
    CHECK(vow_resolve(source.resolver, vow_int(1)));
}

#endif
