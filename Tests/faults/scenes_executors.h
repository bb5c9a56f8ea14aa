/* Scenes of executors: serial, custom, default, async everywhere, and waits in handlers. */
#ifndef VOW_TEST_SCENES_EXECUTORS_H
#define VOW_TEST_SCENES_EXECUTORS_H

#include "cast.h"

static void scene_serial(cast *self) {
    vow_executor *serial = vow_executor_serial("memory");
    vow_promise *promise = vow_async(serial, add_one, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, pass_on, pass_on);
    promise = cast_link(self, serial, promise, make_string, NULL);
    promise = cast_link(self, serial, promise, make_chain, NULL);
    vow_executor_release(vow_executor_retain(serial));
    vow_executor_release(serial);
    settles(promise, 0);
}

/* Many at once, so that the executor's queue has several. */
static void scene_serial_queue(cast *self) {
    vow_executor *serial = vow_executor_serial(NULL);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *branches[8];
    for (int i = 0; i < 8; i++) {
        branches[i] = cast_link(self, serial, vow_promise_retain(promise), make_promise, pass_on);
    }
    vow_promise_release(promise);
    vow_executor_release(serial);
    resolve_last(resolver, cast_object(self));
    for (int i = 0; i < 8; i++) {
        settles(branches[i], 0);
    }
}

/* An executor of the program whose context counts its end among the cast's. */
typedef struct own {
    worker thread;
    cast *owner;
} own;

static void own_submit(void *context, void (*run)(void *work), void *work) {
    worker_submit(&((own *)context)->thread, run, work);
}

static bool own_current(void *context) {
    return worker_current(&((own *)context)->thread);
}

static void own_destroy(void *context) {
    atomic_fetch_add(&((own *)context)->owner->executors.ends, 1);
}

static const vow_executor_class own_class = {sizeof(vow_executor_class), own_submit, own_current,
                                             own_destroy, VOW_SERIAL};
static const vow_executor_class own_parallel = {sizeof(vow_executor_class), own_submit, NULL,
                                                own_destroy, 0};

static void scene_custom(cast *self, const vow_executor_class *cls) {
    own place;
    worker_start(&place.thread);
    place.owner = self;
    self->given_executors++;
    vow_executor *executor = vow_executor_custom(cls, &place);
    vow_promise *promise = cast_link(self, executor, fulfilled_int(1), pass_on, pass_on);
    promise = cast_link(self, executor, promise, make_promise, NULL);
    promise = vow_then(promise, make_string, &shared);
    vow_executor_release(executor);
    settles(promise, 0);
    CHECK(reaches(&self->executors.ends, self->given_executors));
    worker_stop(&place.thread);
}

static void scene_custom_serial(cast *self) {
    scene_custom(self, &own_class);
}

static void scene_custom_parallel(cast *self) {
    scene_custom(self, &own_parallel);
}

static void scene_wrong_custom(cast *self) {
    static const vow_executor_class wrong = {sizeof(vow_executor_class), own_submit, NULL,
                                             own_destroy, 64};
    own place;
    place.owner = self;
    self->given_executors++;
    vow_executor *executor = vow_executor_custom(&wrong, &place);
    CHECK(executor == NULL);
    settles(cast_link(self, executor, vow_promise_with(cast_object(self)), make_string, NULL), 0);
}

static void scene_default(cast *self) {
    vow_executor *serial = vow_executor_serial("the default");
    vow_executor_set_default(serial);
    vow_executor *now = vow_executor_current();
    CHECK(now == serial || (lacked_memory() && now == vow_executor_pool()));
    vow_promise *promise = vow_then(vow_promise_with(cast_object(self)), make_chain, &shared);
    vow_executor_set_default(vow_executor_inline());
    promise = vow_then(promise, make_string, &shared);
    vow_executor_set_default(NULL);
    CHECK(vow_executor_current() == vow_executor_pool());
    vow_executor_release(serial);
    settles(promise, 0);
}

static void scene_async(cast *self) {
    vow_executor *serial = vow_executor_serial("async");
    vow_executor *executors[4] = {NULL, vow_executor_inline(), vow_executor_pool(), serial};
    vow_promise *promises[8];
    (void)self;
    for (int i = 0; i < 8; i++) {
        promises[i] = vow_async(executors[i % 4], i < 4 ? make_chain : make_error, &shared);
    }
    vow_executor_release(serial);
    for (int i = 0; i < 8; i++) {
        settles(promises[i], i < 4 ? 0 : 7);
    }
}

/* Waits inside a handler for work that is made there; passes its outcome on. */
static vow_value wait_inside(vow_value input, void *context) {
    vow_promise *work = vow_async(vow_executor_pool(), make_chain, &shared);
    vow_value out = vow_none();
    (void)input;
    runs_now(context);
    int state = vow_await(work, LONG_ENOUGH, &out);
    CHECK(state == (int)VOW_FULFILLED || (state == (int)VOW_REJECTED && lacked_memory()) ||
          (state == VOW_ENOMEM && lacked_memory()));
    vow_promise_release(work);
    return out;
}

static void scene_waits_in_handlers(cast *self) {
    vow_executor *serial = vow_executor_serial("waits");
    vow_promise *promise = cast_inline(self, fulfilled_int(1), wait_inside, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, wait_inside, NULL);
    promise = cast_link(self, serial, promise, wait_inside, NULL);
    vow_executor_release(serial);
    settles(promise, 0);
}

/* Waits inside a handler for work that needs the same serial executor, which is refused. */
static vow_value wait_for_self(vow_value input, void *context) {
    vow_promise *work = vow_then(fulfilled_int(2), make_string, &shared);
    (void)input;
    runs_now(context);
    int state = vow_await(work, LONG_ENOUGH, NULL);
    CHECK(state == VOW_EDEADLOCK || lacked_memory());
    vow_promise_release(work);
    return vow_int(5);
}

static void scene_refused_wait(cast *self) {
    vow_executor *serial = vow_executor_serial("refuses");
    vow_promise *promise = cast_link(self, serial, fulfilled_int(1), wait_for_self, NULL);
    vow_executor_release(serial);
    settles_int(promise, 5);
}

/* Nobody waits: everything is given back while the work still runs. */
static void scene_abandoned_work(cast *self) {
    vow_executor *serial = vow_executor_serial("abandoned");
    for (int i = 0; i < 4; i++) {
        vow_executor *executor = i % 2 == 0 ? serial : vow_executor_pool();
        vow_promise *promise =
            cast_link(self, executor, vow_promise_with(cast_object(self)), pass_on, pass_on);
        vow_promise_release(cast_finally(self, executor, promise, make_none));
    }
    vow_executor_release(serial);
}

/* Three threads that use one promise at once: two chain, one settles. */
typedef struct meeting {
    cast *owner;
    vow_promise *promise;
} meeting;

static void *chain_there(void *context) {
    meeting *self = context;
    vow_promise *promise = cast_link(self->owner, vow_executor_pool(),
                                     vow_promise_retain(self->promise), make_chain, pass_on);
    settles(cast_inline(self->owner, promise, pass_on, pass_on), 0);
    return NULL;
}

static void scene_threads(cast *self) {
    vow_resolver *resolver;
    meeting place = {self, vow_promise_create(&resolver)};
    pthread_t first = start_thread(chain_there, &place);
    pthread_t second = start_thread(chain_there, &place);
    resolve_last(resolver, vow_from_promise(vow_promise_with(cast_object(self))));
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    vow_promise_release(place.promise);
}

#define SCENES_EXECUTORS                                                                           \
    {"a serial executor", scene_serial}, {"a serial executor's queue", scene_serial_queue},        \
        {"a serial executor of the program", scene_custom_serial},                                 \
        {"a parallel executor of the program", scene_custom_parallel},                             \
        {"a wrong executor of the program", scene_wrong_custom},                                   \
        {"the default executor", scene_default}, {"async on every executor", scene_async},         \
        {"waits in handlers", scene_waits_in_handlers},                                            \
        {"a wait that is refused", scene_refused_wait},                                            \
        {"work that nobody waits for", scene_abandoned_work}, {                                    \
        "threads that share a promise", scene_threads                                              \
    }

#endif
