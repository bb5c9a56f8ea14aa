/* Tests a wait inside the submit of a program's executor for a reaction on the same promise. */
#include "worker.h"

/* An executor whose submit waits for one more reaction on the promise that is being settled. */
typedef struct waiting_executor {
    vow_promise *source;
    vow_promise *other; /* the reaction that submit waits for */
    vow_executor *on;   /* where that one runs */
    void (*add)(struct waiting_executor *self);
    atomic_int submitted;
    int answer;
    int64_t integer;
} waiting_executor;

static void wait_in_submit(void *context, void (*run)(void *work), void *work) {
    waiting_executor *self = context;
    vow_value out = vow_none();
    atomic_fetch_add(&self->submitted, 1);
    self->add(self);
    self->answer = vow_await(self->other, VOW_FOREVER, &out);
    self->integer = out.kind == VOW_INT ? out.as.integer : 0;
    vow_value_release(out);
    vow_promise_release(self->other);
    run(work);
}

static const vow_executor_class waiting_class = {sizeof(vow_executor_class), wait_in_submit, NULL,
                                                 NULL, 0};

static void add_itself(waiting_executor *self) {
    self->other = then_on(self->on, vow_promise_retain(self->source), add_one, NULL);
}

static void *add_on_thread(void *context) {
    add_itself(context);
    return NULL;
}

static void add_by_thread(waiting_executor *self) {
    pthread_join(start_thread(add_on_thread, self), NULL);
}

static void check_answered(void (*add)(waiting_executor *self), vow_executor *on) {
    waiting_executor self;
    vow_resolver *resolver;
    memset(&self, 0, sizeof self);
    self.add = add;
    self.on = on;
    self.source = vow_promise_create(&resolver);
    vow_executor *executor = vow_executor_custom(&waiting_class, &self);
    vow_promise *first = then_on(executor, vow_promise_retain(self.source), add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(first), 2);
    CHECK_INT_EQ(atomic_load(&self.submitted), 1);
    CHECK_INT_EQ(self.answer, VOW_FULFILLED);
    CHECK_INT_EQ(self.integer, 2);
    vow_executor_release(executor);
    vow_promise_release(self.source);
}

TEST("G11: a wait in submit for a reaction that submit itself registered is woken") {
    check_answered(add_itself, vow_executor_pool());
}

TEST("G11: so is one for a reaction that another thread registered meanwhile") {
    check_answered(add_by_thread, vow_executor_pool());
}

TEST("G11: so are both when the reaction runs on another executor of the program") {
    worker thread;
    worker_start(&thread);
    vow_executor *other = vow_executor_custom(&worker_class, &thread);
    check_answered(add_itself, other);
    check_answered(add_by_thread, other);
    vow_executor_release(other);
    worker_stop(&thread);
}

/* The waiting executor takes the first link, and the pool the second one, which submit awaits. */
static void add_nothing(waiting_executor *self) {
    vow_promise_retain(self->other);
}

TEST("G11: so is one for a reaction that stands behind the submitted one") {
    waiting_executor self;
    vow_resolver *resolver;
    memset(&self, 0, sizeof self);
    self.add = add_nothing;
    self.source = vow_promise_create(&resolver);
    vow_executor *executor = vow_executor_custom(&waiting_class, &self);
    vow_promise *first = then_on(executor, vow_promise_retain(self.source), add_one, NULL);
    self.other = then_on(vow_executor_pool(), vow_promise_retain(self.source), add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(first), 2);
    CHECK_INT_EQ(self.answer, VOW_FULFILLED);
    CHECK_INT_EQ(int_of(self.other), 2);
    vow_executor_release(executor);
    vow_promise_release(self.source);
}
