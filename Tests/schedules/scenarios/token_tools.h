/* What the scenarios of tokens share. */
#ifndef VOW_SCHEDULES_TOKEN_TOOLS_H
#define VOW_SCHEDULES_TOKEN_TOOLS_H

#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it, inner;
static vow_cancel_source *source, *parents[2];
static watched links[2];
static heard hook;
static list_executor executor;
static bool has_cancelled, has_resolved, ended;

static inline void start(void) {
    it = defer();
    inner = defer();
    memset(links, 0, sizeof links);
    memset(&hook, 0, sizeof hook);
    links[0].inside = scheduler_point;
    source = vow_cancel_source_create();
    parents[0] = parents[1] = NULL;
    has_cancelled = has_resolved = ended = false;
}

static inline void let_go(void) {
    vow_promise_release(links[0].promise);
    vow_promise_release(links[1].promise);
    vow_cancel_source_release(source);
    vow_cancel_source_release(parents[0]);
    vow_cancel_source_release(parents[1]);
    release(&it);
    release(&inner);
}

static inline vow_token *token(void) {
    return vow_cancel_source_token(source);
}

static inline void cancel_source(void) {
    CHECK(vow_cancel_source_cancel_with(source, vow_int(5)));
}

static inline void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
    ended = true;
}

static inline void check_reason(vow_promise *promise, int64_t reason) {
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK(vow_error_code(error) == VOW_ECANCELLED);
    CHECK(vow_error_payload(error).as.integer == reason);
}

static inline void start_reaction(void) {
    start();
    watch(&links[0], it.promise, NULL, token());
}

static inline void release_source(void) {
    vow_cancel_source_release(source);
}

#endif
