/* Promises/A+ 2.2.4: handlers are called from the runtime, not from inside the program's code. */
#include "probe.h"

/* What a thread is doing right now. */
static _Thread_local int calls;    /* vow calls of the test that have not returned */
static _Thread_local int handlers; /* handlers and subscribes that have not returned */

/* Many handlers of a trial, some of which register and settle; each looks where it is called. */
typedef struct scene {
    trial *of;
    vow_promise *another;
    vow_resolver *resolver; /* of `another` */
    atomic_int ended;
    atomic_int subscribed; /* the last that the thenable does with this */
} scene;

static void enter(scene *self) {
    CHECK_INT_EQ(handlers, 0);
    if (!self->of->is_inline) {
        CHECK_INT_EQ(calls, 0);
    }
    handlers++;
}

static vow_value leave(scene *self) {
    handlers--;
    atomic_fetch_add(&self->ended, 1);
    return vow_none();
}

static vow_value run_plainly(vow_value input, void *context) {
    (void)input;
    enter(context);
    return leave(context);
}

static void link_plainly(scene *self, vow_promise *promise) {
    calls++;
    vow_promise_release(
        either_on(self->of->executor, vow_promise_retain(promise), run_plainly, self));
    calls--;
}

/* Registers on promises that are settled, and settles one that has a handler. */
static vow_value run_and_register(vow_value input, void *context) {
    scene *self = context;
    (void)input;
    enter(self);
    link_plainly(self, self->of->promise);
    link_plainly(self, self->another);
    calls++;
    CHECK(vow_resolve(self->resolver, vow_none()));
    calls--;
    link_plainly(self, self->another);
    return leave(self);
}

static void in_and_out(trial *self) {
    scene stage = {.of = self};
    stage.another = vow_promise_create(&stage.resolver);
    link_plainly(&stage, self->promise);
    calls++;
    vow_promise_release(
        either_on(self->executor, vow_promise_retain(self->promise), run_and_register, &stage));
    calls--;
    link_plainly(&stage, self->promise);
    calls++;
    trial_settle(self);
    calls--;
    link_plainly(&stage, self->promise);
    CHECK(reaches(&stage.ended, 7));
    let_pass(self->executor);
    CHECK_INT_EQ(atomic_load(&stage.ended), 7);
    vow_resolver_release(stage.resolver);
    vow_promise_release(stage.another);
}

TEST("2.2.4: no handler is called inside another one, or (but for inline) inside a vow call") {
    for_each(in_and_out, FULFILS | REJECTS, EVERY_WAY);
}

static bool scene_subscribe(void *pointer, vow_resolver *resolver) {
    scene *self = pointer;
    CHECK_INT_EQ(handlers, 0);
    handlers++;
    link_plainly(self, self->of->promise);
    calls++;
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK(vow_resolve(self->resolver, vow_none()));
    calls--;
    vow_resolver_release(resolver);
    handlers--;
    atomic_store(&self->subscribed, 1);
    return true;
}

static const vow_class scene_class = {sizeof(vow_class), "scene", NULL, scene_subscribe};

static vow_value give_scene(vow_value input, void *context) {
    scene *self = context;
    (void)input;
    enter(self);
    calls++;
    vow_promise_release(vow_promise_with(vow_object(self, &scene_class)));
    calls--;
    CHECK_INT_EQ(atomic_load(&self->subscribed), 0);
    return leave(self);
}

static void thenable_too(trial *self) {
    scene stage = {.of = self};
    stage.another = vow_promise_create(&stage.resolver);
    link_plainly(&stage, stage.another);
    calls++;
    vow_promise_release(
        either_on(self->executor, vow_promise_retain(self->promise), give_scene, &stage));
    trial_settle(self);
    calls--;
    CHECK(reaches(&stage.ended, 3));
    CHECK(reaches(&stage.subscribed, 1));
    let_pass(self->executor);
    CHECK_INT_EQ(atomic_load(&stage.ended), 3);
    vow_resolver_release(stage.resolver);
    vow_promise_release(stage.another);
}

TEST("2.2.4: a thenable is not asked inside a handler, and no handler is called inside it") {
    for_each(thenable_too, FULFILS | REJECTS, EVERY_WAY);
}

/* An executor that keeps what it is given until somebody turns the crank. */
typedef struct crank {
    void (*run)(void *work);
    void *work[16];
    int count;
} crank;

static void crank_submit(void *context, void (*run)(void *work), void *work) {
    crank *self = context;
    CHECK(self->count < 16);
    self->run = run;
    self->work[self->count++] = work;
}

static void crank_turn(crank *self) {
    for (int i = 0; i < self->count; i++) {
        self->run(self->work[i]);
    }
    self->count = 0;
}

static const vow_executor_class crank_class = {sizeof(vow_executor_class), crank_submit, NULL, NULL,
                                               0};

TEST("2.2.4: nothing runs before the executor calls, however much was registered and settled") {
    for (unsigned way = ALREADY; way <= AFTERWARDS; way *= 2) {
        for (int rejects = 0; rejects < 2; rejects++) {
            crank queue = {0};
            trial self;
            memset(&self, 0, sizeof self);
            self.executor = vow_executor_custom(&crank_class, &queue);
            trial_begin(&self, rejects != 0, way == RACING ? AFTERWARDS : way);
            probe seen[3];
            memset(seen, 0, sizeof seen);
            for (int i = 0; i < 3; i++) {
                vow_promise_release(probe_link(&seen[i], &self));
                if (i == 1) {
                    trial_settle(&self);
                }
                CHECK_INT_EQ(probe_calls(&seen[i]), 0);
            }
            CHECK_INT_EQ(vow_promise_state(self.promise), trial_state(&self));
            CHECK_INT_EQ(queue.count, 3);
            CHECK_INT_EQ(probe_calls(&seen[0]), 0);
            crank_turn(&queue);
            for (int i = 0; i < 3; i++) {
                CHECK_INT_EQ(probe_calls(&seen[i]), 1);
            }
            trial_end(&self);
            vow_executor_release(self.executor);
        }
    }
}
