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

deferred defer_cooperative(void) {
    deferred made;
    made.promise = vow_promise_create_with(&made.resolver, VOW_COOPERATIVE);
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

vow_promise *then_here(vow_promise *promise, call *it) {
    vow_promise *derived;
    it->asked = ++moment;
    derived = vow_then(promise, record, it);
    it->registered = ++moment;
    return derived;
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

int64_t content_of_promise(vow_promise *promise) {
    vow_value value;
    CHECK(vow_promise_peek(promise, &value));
    return content_of(value);
}

static bool is_pending(const watched *it) {
    return it->promise == NULL || vow_promise_state(it->promise) == VOW_PENDING;
}

static vow_value count_call(watched *it, vow_value input, int *times) {
    int *inside = &handlers_inside[scheduler_self() + 1];
    CHECK(++*inside == 1);
    CHECK(it->destroyed == 0);
    (*times)++;
    it->content = content_of(input);
    if (it->inside != NULL) {
        it->inside();
    }
    CHECK(it->destroyed == 0 && is_pending(it));
    --*inside;
    if (it->returned != NULL) {
        vow_promise *returned = it->returned;
        it->returned = NULL;
        return vow_from_promise(returned);
    }
    return vow_int(RESULT);
}

static vow_value count_fulfilled(vow_value input, void *context) {
    watched *it = context;
    CHECK(input.kind != VOW_ERROR);
    return count_call(it, input, &it->fulfilled);
}

static vow_value count_rejected(vow_value input, void *context) {
    watched *it = context;
    CHECK(input.kind == VOW_ERROR);
    return count_call(it, input, &it->rejected);
}

static void count_destroyed(void *context) {
    watched *it = context;
    CHECK(++it->destroyed == 1 && is_pending(it));
    CHECK(it->awaited == NULL || vow_promise_state(it->awaited) != VOW_PENDING);
}

void watch_as(watched *it, vow_promise *promise, vow_executor *executor, vow_token *token,
              uint32_t flags) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = count_fulfilled;
    reaction.on_rejected = flags & WITHOUT_CATCH ? NULL : count_rejected;
    it->has_catch = reaction.on_rejected != NULL;
    reaction.context = it;
    reaction.destroy = count_destroyed;
    reaction.executor = executor != NULL ? executor : vow_executor_inline();
    reaction.token = token;
    reaction.flags = flags & VOW_FINALLY;
    it->promise = vow_then_with(vow_promise_retain(promise), &reaction);
}

void watch(watched *it, vow_promise *promise, vow_executor *executor, vow_token *token) {
    watch_as(it, promise, executor, token, 0);
}

void check_watched(const watched *it) {
    int runs = it->fulfilled + it->rejected;
    CHECK(runs == 1 || (runs == 0 && !it->has_catch));
    CHECK(it->destroyed == 1);
}

void let_go_of_watched(watched *it) {
    vow_promise *promise = it->promise;
    it->promise = NULL;
    vow_promise_release(promise);
}

int fate_of(const watched *it) {
    check_watched(it);
    if (content_of_promise(it->promise) != VOW_ECANCELLED) {
        return 2;
    }
    return it->fulfilled || (it->rejected && it->content != VOW_ECANCELLED);
}

static void count_heard(void *context) {
    heard *it = context;
    CHECK(it->destroyed == 0);
    CHECK(++it->called == 1);
}

static void destroy_heard(void *context) {
    heard *it = context;
    CHECK(++it->destroyed == 1);
}

void hear_resolver(heard *it, vow_resolver *resolver) {
    CHECK(vow_resolver_on_cancel(resolver, count_heard, it, destroy_heard) == 0);
}

void hear_token(heard *it, vow_token *token) {
    CHECK(vow_token_on_cancel(token, count_heard, it, destroy_heard) == 0);
}

vow_registration *register_resolver(heard *it, vow_resolver *resolver) {
    vow_registration *handle;
    CHECK(vow_resolver_register(resolver, count_heard, it, destroy_heard, &handle) == 0);
    return handle;
}

vow_registration *register_token(heard *it, vow_token *token) {
    vow_registration *handle;
    CHECK(vow_token_register(token, count_heard, it, destroy_heard, &handle) == 0);
    return handle;
}

void check_heard(const heard *it, int at_least, int at_most) {
    CHECK(it->called >= at_least && it->called <= at_most);
    CHECK(it->destroyed == 1);
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

void list_executor_drain(list_executor *it) {
    while (has_work(it)) {
        int next = it->taken++;
        it->run[next](it->work[next]);
    }
}

typedef struct working {
    const list_executor *executor;
    const bool *ended;
} working;

static bool has_work_or_end(const void *argument) {
    const working *it = argument;
    return has_work(it->executor) || *it->ended;
}

void list_executor_work_until(list_executor *it, const bool *ended) {
    working look = {it, ended};
    for (;;) {
        int next;
        scheduler_block_until(has_work_or_end, &look);
        if (!has_work(it)) {
            return;
        }
        next = it->taken++;
        it->run[next](it->work[next]);
    }
}
