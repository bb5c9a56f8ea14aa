/* What scenarios share: promises, handlers that keep a record, an executor that is a list. */
#include "scenario.h"

#include <stddef.h>
#include <string.h>

int unhandled;
static int moment;
static int handlers_inside[SCHEDULER_THREADS + 1];

deferred defer(void) {
    deferred made;
    made.promise = vow_promise_create(&made.resolver);
    return made;
}

void release(deferred *it) {
    vow_promise_release(it->promise);
    vow_resolver_release(it->resolver);
}

void resolve_with(const deferred *it, const deferred *other) {
    vow_value followed = vow_from_promise(vow_promise_retain(other->promise));
    CHECK(vow_resolve(it->resolver, followed));
}

static int64_t content_of(vow_value value) {
    return value.kind == VOW_ERROR ? vow_error_code(value) : value.as.integer;
}

static vow_value record(vow_value input, void *context) {
    call *it = context;
    int *inside = &handlers_inside[scheduler_self() + 1];
    CHECK(++*inside == 1);
    it->started = ++moment;
    it->times++;
    it->rejected = input.kind == VOW_ERROR;
    it->content = content_of(input);
    if (it->inside != NULL) {
        it->inside();
    }
    --*inside;
    return vow_none();
}

void on_settled(vow_promise *promise, vow_executor *executor, call *it) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reaction.on_rejected = record;
    reaction.context = it;
    reaction.executor = executor != NULL ? executor : vow_executor_inline();
    it->asked = ++moment;
    vow_promise_release(vow_then_with(vow_promise_retain(promise), &reaction));
    it->registered = ++moment;
}

void check_order(const call *calls, int count) {
    for (int i = 0; i < count; i++) {
        CHECK(calls[i].times == 1);
        for (int j = 0; j < count; j++) {
            CHECK(calls[i].registered > calls[j].asked || calls[i].started < calls[j].started);
        }
    }
}

void check_once(const call *it, bool rejected, int64_t content) {
    CHECK(it->times == 1);
    CHECK(it->rejected == rejected);
    CHECK(it->content == content);
}

void check_settled(vow_promise *promise, vow_state state, int64_t content) {
    vow_value value;
    CHECK(vow_promise_peek(promise, &value));
    CHECK(vow_promise_state(promise) == state);
    CHECK(content_of(value) == content);
}

static void list_submit(void *context, void (*run)(void *work), void *work) {
    list_executor *it = context;
    CHECK(it->added < 8);
    it->run[it->added] = run;
    it->work[it->added] = work;
    it->added++;
    /* Its thread may begin, and end, before this returns. */
    scheduler_point();
}

static void list_destroy(void *context) {
    list_executor *it = context;
    CHECK(it->taken == it->added);
    it->destroyed++;
}

void list_executor_make(list_executor *it) {
    static const vow_executor_class serial = {sizeof serial, list_submit, NULL, list_destroy,
                                              VOW_SERIAL};
    memset(it, 0, sizeof *it);
    it->handle = vow_executor_custom(&serial, it);
    CHECK(it->handle != NULL);
}

static bool has_work(const void *argument) {
    const list_executor *it = argument;
    return it->taken < it->added;
}

void list_executor_work(list_executor *it, int pieces) {
    while (pieces-- > 0) {
        int next;
        scheduler_block_until(has_work, it);
        next = it->taken++;
        it->run[next](it->work[next]);
    }
}
