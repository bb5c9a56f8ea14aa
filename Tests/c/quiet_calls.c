/* Tests how what calls functions of the program is cancelled, or fails: it settles when no call
 * runs, and what calls returned is through. */
#include "quiet.h"

typedef enum caller { ASYNC, MAP, REDUCE, REPEAT, RETRY, CALLERS } caller;
typedef enum stand { QUEUED, RUNNING, RETURNED } stand;

static const char *const caller_names[CALLERS] = {"async", "map", "reduce", "repeat", "retry"};

typedef struct calling {
    scene in;
    stage m;
    produced y;
    runner on;
    crowd before;
    vow_promise *promise;
    vow_promise *kept;
} calling;

static vow_value reduce_stage(vow_value accumulated, vow_value item, void *context) {
    (void)accumulated;
    return stage_run(item, context);
}

static bool always(vow_value state, void *context) {
    (void)state, (void)context;
    return true;
}

static vow_promise *call(caller who, stage *m, vow_executor *on) {
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    vow_promise *promises[2] = {fulfilled_int(1), fulfilled_int(2)};
    vow_promise *made = NULL;
    vow_executor_set_default(on);
    switch (who) {
    case ASYNC:
        made = vow_async(NULL, stage_run, m);
        break;
    case MAP:
        made = vow_map(vow_list(items, 3), stage_run, m, 1);
        break;
    case REDUCE:
        made = vow_reduce(promises, 2, vow_int(0), reduce_stage, m);
        break;
    case REPEAT:
        made = vow_repeat(vow_int(1), always, stage_run, m);
        break;
    case RETRY:
        made = vow_retry(NULL, stage_run, m);
        break;
    default:
        break;
    }
    vow_executor_set_default(NULL);
    if (who != REDUCE) {
        vow_promise_release(promises[0]);
        vow_promise_release(promises[1]);
    }
    return made;
}

static void calling_begin(calling *self, caller who, stand at, place where, bool shared) {
    memset(self, 0, sizeof *self);
    scene_begin(&self->in);
    runner_begin(&self->on, where);
    self->m = (stage){.in = &self->in, .name = "m", .tells_return = true, .waits = at == RUNNING};
    if (at == RETURNED) {
        self->m.gives = produced_begin(&self->y, &self->in, "y");
        self->kept = shared ? vow_promise_retain(self->m.gives) : NULL;
    }
    if (at == QUEUED) {
        crowd_occupy(&self->before, &self->on);
    }
    self->promise = call(who, &self->m, self->on.executor);
    if (at != QUEUED) {
        CHECK(reaches(&self->m.entered, 1));
    }
    if (at == RETURNED) {
        handlers_left(0);
    }
}

static void calling_end(calling *self, const char *expected, const char *what) {
    scene_is(&self->in, expected, what);
    if (self->kept != NULL) {
        vow_promise_release(self->kept);
    }
    vow_promise_release(self->promise);
    if (self->y.resolver != NULL) {
        vow_resolver_release(self->y.resolver);
    }
    runner_end(&self->on);
}

static void play(caller who, stand at, place where, bool shared) {
    static const char *const stands[] = {"queued", "running", "waits for what it returned"};
    calling self;
    char expected[64], what[64];
    /* A call reads the number of the attempt, the item, the state, or nothing. */
    (void)snprintf(expected, sizeof expected, "%s%s!cancelled",
                   at == QUEUED   ? ""
                   : who == ASYNC ? "m<none m> "
                                  : "m<1 m> ",
                   at == RETURNED && !shared ? "y! " : "");
    (void)snprintf(what, sizeof what, "%s, %s%s, %s", caller_names[who], stands[at],
                   shared ? ", shared" : "", place_names[where]);
    calling_begin(&self, who, at, where, shared);
    vow_promise *seen = seen_by(&self.in, self.promise);
    CHECK(vow_cancel(self.promise));
    CHECK(!vow_cancel(self.promise));
    CHECK_INT_EQ(vow_promise_state(self.promise),
                 at == RUNNING || shared ? VOW_PENDING : VOW_REJECTED);
    atomic_store(&self.m.open, 1);
    if (shared) {
        CHECK_INT_EQ(vow_promise_state(self.kept), VOW_PENDING);
        CHECK(vow_resolve(self.y.resolver, vow_int(3)));
    }
    CHECK_INT_EQ(code_of(seen), 0);
    crowd_leave(&self.before);
    calling_end(&self, expected, what);
}

/* With each caller, in every place where a call can stand so while another thread cancels. */
static void play_all(stand at, bool shared) {
    for (int who = 0; who < CALLERS; who++) {
        for (int where = INLINE; where < PLACES; where++) {
            if (where != INLINE || at == RETURNED) {
                play((caller)who, at, (place)where, shared);
            }
        }
    }
}

TEST("G14: async, map, reduce, repeat, retry, cancelled before a call: none comes") {
    play_all(QUEUED, false);
}

TEST("G14: cancelled while a call runs: it returns first, and no other is begun") {
    play_all(RUNNING, false);
}

TEST("G14: cancelled while it waits for what a call returned: that is cancelled first") {
    play_all(RETURNED, false);
}

TEST("G14: what a call returned and somebody else holds is left alone, and waited for") {
    play_all(RETURNED, true);
}

TEST("a reduce that waits for a promise is cancelled: that is cancelled first, unless it is "
     "shared") {
    for (int shared = 0; shared < 2; shared++) {
        scene in;
        produced x;
        stage m = {.in = &in, .name = "m"};
        scene_begin(&in);
        vow_promise *one = produced_begin(&x, &in, "x");
        vow_promise *kept = shared ? vow_promise_retain(one) : NULL;
        vow_promise *promise = vow_reduce(&one, 1, vow_int(0), reduce_stage, &m);
        vow_promise *seen = seen_by(&in, promise);
        CHECK(vow_cancel(promise));
        CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
        CHECK_INT_EQ(code_of(seen), 0);
        scene_is(&in, shared ? "!cancelled" : "x! !cancelled", "reduce");
        vow_promise_release(promise);
        vow_resolver_release(x.resolver);
        vow_promise_release(kept);
    }
}

typedef struct failing {
    stage m;
    atomic_int failed;
} failing;

/* The first item waits at its gate; the second one fails, not before: else the first would not be
 * called. */
static vow_value fail_second(vow_value item, void *context) {
    failing *self = context;
    if (item.as.integer == 1) {
        return stage_run(item, &self->m);
    }
    reaches(&self->m.entered, 1);
    atomic_store(&self->failed, 1);
    return vow_error("test", 4, NULL);
}

TEST("G14: a map whose one item fails is rejected when the calls that run have returned") {
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    for (int gives = 0; gives < 2; gives++) {
        scene in;
        produced y = {0};
        failing it = {.m = {.in = &in, .name = "m", .tells_return = true, .waits = true}};
        scene_begin(&in);
        it.m.gives = gives ? produced_begin(&y, &in, "y") : NULL;
        vow_promise *promise = vow_map(vow_list(items, 3), fail_second, &it, 2);
        vow_promise *seen = seen_by(&in, promise);
        CHECK(reaches(&it.m.entered, 1) && reaches(&it.failed, 1));
        /* What is left: the call that runs, and who sees the outcome. */
        handlers_left(2);
        CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
        atomic_store(&it.m.open, 1);
        CHECK_INT_EQ(code_of(seen), 0);
        scene_is(&in, gives ? "m<1 m> y! !e4" : "m<1 m> !e4", "map");
        vow_promise_release(promise);
        if (gives) {
            vow_resolver_release(y.resolver);
        }
    }
}
