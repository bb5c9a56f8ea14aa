/* What the library calls: handlers, destructors, the hook, subscribe. Each first asks the model. */
#include "world.h"

static void check_place(const model_promise *self) {
    frame top = top_frame();
    EXPECT(top == FRAME_TOP || top == FRAME_RUN || top == FRAME_AWAIT,
           "a handler inside a handler or another callback");
    executor_kind kind = w.executors[self->executor].kind;
    if (kind == EXECUTOR_SERIAL || kind == EXECUTOR_LOOSE) {
        EXPECT(top == FRAME_RUN && w.frame_executors[w.depth] == self->executor,
               "a handler outside of its executor %d", self->executor);
    }
}

/* "One handler at a time, in order": nothing that became ready in an earlier step is left behind.
 */
static void check_serial(const model_promise *self) {
    if ((w.executors[self->executor].flags & VOW_SERIAL) == 0) {
        return;
    }
    for (int i = 0; i < m.promise_count; i++) {
        const model_promise *other = &m.promises[i];
        EXPECT(other->wait != WAITS_EXECUTOR || other->executor != self->executor ||
                   other->epoch >= self->epoch,
               "a serial executor ran a handler before an older one");
    }
}

/* What a cancelled handler returns is cancelled, unless it has settled: so nothing is returned
 * whose outcome is on its way, and may be there or not. */
static pair usable_if_cancelled(int reaction, pair result) {
    vow_promise *promise = NULL;
    if (!m.promises[reaction].cancelled || !vow_as_promise(result.real, &promise)) {
        return result;
    }
    int model = (int)m.values[result.model].number;
    int doubtful = model_on_its_way(model);
    if (doubtful < 0 || (doubtful == model && is_exact(promise, model))) {
        return result;
    }
    drop_value(result);
    return (pair){vow_none(), model_value_new(VOW_NONE, 0)};
}

static vow_value run_handler(vow_value input, context *self) {
    int reaction = self->reaction;
    end_consumed();
    EXPECT(reaction >= 0, "a handler of a call that failed");
    trace("handler of promise %d", reaction);
    EXPECT(self->destroyed == 0, "a handler with a destroyed context");
    self->busy = true;
    check_place(&m.promises[reaction]);
    bool in_order = w.executors[m.promises[reaction].executor].kind != EXECUTOR_LOOSE;
    const char *objection = model_start(reaction, in_order);
    EXPECT(objection == NULL, "the handler of promise %d %s", reaction, objection);
    check_serial(&m.promises[reaction]);
    int expected = model_input(reaction);
    push_frame(FRAME_HANDLER, m.promises[reaction].executor);
    w.carried[w.depth] = m.promises[reaction].carried;
    check_carried();
    compare(input, expected);
    check_current();
    unsigned ops = next_below(16);
    run_ops(ops > 8 ? ops - 8 : 0);
    compare(input, expected);
    pair result = {vow_value_retain(input), expected};
    if (next_below(4) != 0) {
        drop_value(result);
        result = take_value();
    }
    result = usable_if_cancelled(reaction, usable_for(reaction, result));
    trace("handler of promise %d returns kind %u, number %lld", reaction, result.real.kind,
          (long long)m.values[result.model].number);
    w.leaver = reaction;
    w.left = -1;
    if (w.carried_is_set[w.depth] && m.values[w.carried[w.depth]].kind == VOW_OBJECT) {
        w.left = (int)m.values[w.carried[w.depth]].number;
    }
    self->runs++;
    self->busy = false;
    if (self->has_destroy && !model_is_waited_for(result.model)) {
        hold(result);
        self->returned = result.model;
        m.context_done[self - w.contexts] = true;
    } else {
        model_finish(reaction, result.model);
        model_look_for_lost();
    }
    end_carried();
    pop_frame();
    w.left_at = w.events;
    return result.real;
}

vow_value on_value(vow_value input, void *context) {
    EXPECT(input.kind != VOW_ERROR, "an error for the handler of values");
    return run_handler(input, context);
}

vow_value on_fiber(vow_value input, void *context) {
    int outer = w.fiber_depth;
    w.fiber_depth = w.depth + 1;
    vow_value result = on_value(input, context);
    w.fiber_depth = outer;
    return result;
}

vow_value on_error(vow_value input, void *context) {
    EXPECT(input.kind == VOW_ERROR, "a value for the handler of errors");
    return run_handler(input, context);
}

vow_value on_either(vow_value input, void *context) {
    return run_handler(input, context);
}

/* Some callbacks go on with the program. */
static void maybe_run_ops(void) {
    unsigned ops = next_below(8);
    run_ops(ops > 5 ? ops - 5 : 0);
}

/* "Destroyed where its handler would have run." */
static void check_end_place(int number) {
    const executor *self = &w.executors[number];
    if (self->here || (self->kind != EXECUTOR_SERIAL && self->kind != EXECUTOR_LOOSE)) {
        return;
    }
    int i = w.depth;
    while (i > 0 && w.frames[i] != FRAME_RUN) {
        i--;
    }
    EXPECT(i > 0 && w.frame_executors[i] == number, "a context destroyed outside of executor %d",
           number);
}

void on_destroy(void *context_pointer) {
    context *self = context_pointer;
    int number = (int)(self - w.contexts);
    end_consumed();
    trace("context %d destroyed", number);
    EXPECT(self->has_destroy && self->destroyed == 0, "a context destroyed twice");
    EXPECT(m.context_done[number], "a context destroyed while its handler may run");
    self->destroyed++;
    self->busy = true;
    if (self->reaction >= 0) {
        check_end_place(m.promises[self->reaction].executor);
        m.promises[self->reaction].context = -1;
        check_is_pending(self->reaction);
    }
    push_frame(FRAME_CALLBACK, -1);
    maybe_run_ops();
    self->busy = false;
    if (self->returned >= 0) {
        /* The result counts now; what the destructor did came first, which a ring would show. */
        int result = self->returned;
        self->returned = -1;
        m.values[result].holds--;
        model_finish(self->reaction, result);
    } else if (self->reaction >= 0) {
        model_end(self->reaction);
    } else if (self->refused >= 0) {
        m.promises[self->refused].holds--;
    }
    model_look_for_lost();
    pop_frame();
    if (w.leaver == self->reaction) {
        w.left_at = w.events;
    }
}

void on_object_destroy(void *pointer) {
    object *self = pointer;
    end_consumed();
    trace("object %d destroyed", (int)(self - w.objects));
    EXPECT(self->destroyed == 0, "an object destroyed twice");
    model_mark();
    EXPECT(!m.value_must[self->value], "an object destroyed while it can be read");
    self->destroyed++;
    if (self - w.objects == w.left && w.left_at == w.events) {
        /* A handler has left it as context. Its result, which the model has taken, counts
         * afterwards. */
        check_is_pending(w.leaver);
        return;
    }
    push_frame(FRAME_CALLBACK, -1);
    maybe_run_ops();
    pop_frame();
}

void on_unhandled(vow_value error, void *context) {
    EXPECT(context == &w, "a hook with another context");
    int64_t code = vow_error_code(error);
    end_consumed();
    trace("unhandled: %lld", (long long)code);
    if (code < 0) {
        EXPECT(-code < 16, "the unhandled error %lld", (long long)code);
        w.own_reports[-code]++;
    } else {
        EXPECT(code >= 1000 && code < 1000 + w.next_code, "the unhandled error %lld",
               (long long)code);
        w.reports[code - 1000]++;
    }
    push_frame(FRAME_CALLBACK, -1);
    maybe_run_ops();
    pop_frame();
}

static int subscriber_of(int value) {
    for (int i = 0; i < m.promise_count; i++) {
        if (m.promises[i].wait == WAITS_THENABLE && m.promises[i].value == value) {
            return i;
        }
    }
    fail("a subscription that no promise waits for");
}

static void answer(vow_resolver *resolver, int model) {
    bool rejects = next_below(4) == 0;
    pair value = usable_for(m.resolvers[model].promise, take_value());
    if (m.values[value.model].kind == VOW_PROMISE) {
        rejects = false;
    }
    trace("answer %s with kind %u, number %lld", rejects ? "reject" : "resolve", value.real.kind,
          (long long)m.values[value.model].number);
    bool expected = rejects ? model_reject(model, value.model) : model_resolve(model, value.model);
    if (expected) {
        model_call_hooks_off(m.resolvers[model].promise);
    }
    model_look_for_lost();
    bool got = rejects ? vow_reject(resolver, value.real) : vow_resolve(resolver, value.real);
    EXPECT(got == expected, "a thenable's answer: %d", got);
}

bool on_subscribe(void *pointer, vow_resolver *resolver) {
    object *self = pointer;
    end_consumed();
    EXPECT(self->destroyed == 0, "subscribed to a destroyed object");
    frame top = top_frame();
    EXPECT(top == FRAME_TOP || top == FRAME_RUN || top == FRAME_AWAIT,
           "subscribe inside a handler or another callback");
    int promise = subscriber_of(self->value);
    int model = model_subscribe(promise);
    unsigned how = next_below(12);
    trace("subscribe to object %d for promise %d, %u", (int)(self - w.objects), promise, how);
    m.values[self->value].holds++;
    push_frame(FRAME_CALLBACK, -1);
    maybe_run_ops();
    for (unsigned i = 0; i < (how == 2 ? 2 : how < 2 || how >= 8); i++) {
        answer(resolver, model);
    }
    bool says_yes = how < 6; /* the last four answer, and say no after all */
    if (how == 3 || how == 4 || how == 6 || how >= 10) {
        put_resolver(resolver, model); /* to answer later; from 6 on: too late */
    } else {
        model_resolver_drop(model);
        vow_resolver_release(resolver);
    }
    pop_frame();
    m.values[self->value].holds--;
    model_subscribed(promise, model, self->value, says_yes);
    model_look_for_lost();
    return says_yes;
}

const vow_class plain_class = {sizeof(vow_class), "plain", on_object_destroy, NULL};
const vow_class thenable_class = {sizeof(vow_class), "thenable", on_object_destroy, on_subscribe};
