/* Progress: setting it, against settling, listening, releasing, and another one who sets it. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

/* Who listens, inline: on the thread that says how far it is. */
typedef struct ear {
    int calls, running, destroyed;
    double last;
    bool inside_twice, after_end;
} ear;

static deferred it;
/* What a listener looks at meanwhile. */
static vow_promise *shown;
static ear ears[2];

static void hear(double fraction, const char *note, void *context) {
    ear *self = context;
    (void)note;
    self->inside_twice = self->inside_twice || self->running > 0;
    self->running++;
    self->after_end = self->after_end || self->destroyed > 0;
    self->calls++;
    self->last = fraction;
    /* A place where other threads may come. */
    vow_promise_retain(shown);
    vow_promise_release(shown);
    self->running--;
}

static void end(void *context) {
    ear *self = context;
    self->inside_twice = self->inside_twice || self->running > 0;
    self->destroyed++;
}

static void listen(int number) {
    vow_executor_set_default(vow_executor_inline());
    CHECK(vow_on_progress(it.promise, 0, hear, &ears[number], end) == 0);
    vow_executor_set_default(NULL);
}

static void start(void) {
    it = defer();
    shown = vow_promise_with(vow_int(0));
    memset(ears, 0, sizeof ears);
    listen(0);
}

static void start_with_two(void) {
    start();
    listen(1);
}

static void set_some(void) {
    CHECK(vow_promise_set_progress(it.promise, 0.25, "some") == 0);
}

static void set_more(void) {
    CHECK(vow_resolver_set_progress(it.resolver, 0.5, NULL) == 0);
}

static void settle(void) {
    CHECK(vow_resolve(it.resolver, vow_int(1)));
}

static void listen_too(void) {
    listen(1);
}

/* Whoever sets it keeps the promise meanwhile: it has got a reference of its own. */
static vow_promise *mine;

static void start_shared(void) {
    start();
    mine = vow_promise_retain(it.promise);
}

static void set_and_release(void) {
    CHECK(vow_promise_set_progress(mine, 0.25, NULL) == 0);
    vow_promise_release(mine);
}

static void settle_and_release(void) {
    CHECK(vow_resolve(it.resolver, vow_int(1)));
    vow_resolver_release(it.resolver);
    vow_promise_release(it.promise);
}

/* A serial executor, which a thread works for, has the listener and a handler of the promise. */
static list_executor serial;
static call handler;
static bool ended;
static int told_late;

static void hear_in_order(double fraction, const char *note, void *context) {
    hear(fraction, note, context);
    told_late += handler.times > 0;
}

static void start_serial(void) {
    it = defer();
    shown = vow_promise_with(vow_int(0));
    memset(ears, 0, sizeof ears);
    memset(&handler, 0, sizeof handler);
    ended = false;
    told_late = 0;
    list_executor_make(&serial);
    vow_executor_set_default(serial.handle);
    CHECK(vow_on_progress(it.promise, 0, hear_in_order, &ears[0], end) == 0);
    vow_executor_set_default(NULL);
    on_settled(it.promise, serial.handle, &handler);
}

static void work(void) {
    list_executor_work_until(&serial, &ended);
}

static void settle_and_end(void) {
    settle();
    ended = true;
}

static void check_ears(int count) {
    vow_promise_release(shown);
    for (int i = 0; i < count; i++) {
        CHECK(!ears[i].inside_twice && !ears[i].after_end && ears[i].destroyed == 1);
    }
}

/* One call that came before or beside the settling, or none. */
static void finish_settled(void) {
    check_settled(it.promise, VOW_FULFILLED, 1);
    CHECK(ears[0].calls <= 1);
    outcome(ears[0].calls);
    release(&it);
    check_ears(1);
}

SCENARIO progress_settle = {
    "progress-settle", start, {set_some, settle}, finish_settled, 4, 2,
};

/* Each hears what was newest when it was told, and the last of it. */
static void finish_set_twice(void) {
    for (int i = 0; i < 2; i++) {
        CHECK(ears[i].calls >= 1 && ears[i].calls <= 2);
        CHECK(ears[i].last == ears[0].last);
    }
    outcome((ears[0].last == 0.5) + 2 * (ears[0].calls + ears[1].calls - 2));
    CHECK(vow_cancel(it.promise));
    release(&it);
    check_ears(2);
}

SCENARIO progress_twice = {
    "progress-twice", start_with_two, {set_some, set_more}, finish_set_twice, 3, 6,
};

static void finish_listened(void) {
    CHECK(ears[0].calls <= 1 && ears[1].calls <= 1);
    outcome(ears[0].calls + ears[1].calls);
    check_settled(it.promise, VOW_FULFILLED, 1);
    release(&it);
    check_ears(2);
}

SCENARIO progress_listen = {
    "progress-listen", start, {set_some, listen_too, settle}, finish_listened, 2, 3,
};

static void finish_serial(void) {
    /* What came behind the end. */
    list_executor_drain(&serial);
    check_once(&handler, false, 1);
    CHECK(ears[0].calls <= 1 && told_late == 0);
    outcome(ears[0].calls);
    release(&it);
    /* The listener's context is destroyed there. */
    list_executor_drain(&serial);
    check_ears(1);
    vow_executor_release(serial.handle);
}

SCENARIO progress_serial = {
    "progress-serial", start_serial, {set_some, settle_and_end, work}, finish_serial, 2, 2,
};

static void finish_released(void) {
    CHECK(ears[0].calls <= 1);
    outcome(ears[0].calls);
    check_ears(1);
}

SCENARIO progress_release = {
    "progress-release", start_shared, {set_and_release, settle_and_release}, finish_released, 3, 2,
};

/* The listener's token is cancelled beside the telling and the end of the promise. */
static vow_cancel_source *leaving;

static void start_leaving(void) {
    it = defer();
    shown = vow_promise_with(vow_int(0));
    memset(ears, 0, sizeof ears);
    leaving = vow_cancel_source_create();
    vow_call call = {.size = sizeof call,
                     .context = &ears[0],
                     .destroy = end,
                     .executor = vow_executor_inline(),
                     .token = vow_cancel_source_token(leaving)};
    CHECK(vow_on_progress_with(it.promise, 0, hear, &call) == 0);
    mine = vow_promise_retain(it.promise);
}

static void cancel_leaving(void) {
    CHECK(vow_cancel_source_cancel(leaving));
}

static void finish_leaving(void) {
    CHECK(ears[0].calls <= 1);
    outcome(ears[0].calls);
    vow_cancel_source_release(leaving);
    check_ears(1);
}

SCENARIO progress_leave = {
    "progress-leave",
    start_leaving,
    {set_and_release, cancel_leaving, settle_and_release},
    finish_leaving,
    2,
    2,
};
