/* Tests G3: each reaction runs once or is dropped once, and its context is destroyed once. */
#include "worker.h"

/* What one path must lead to. */
static void check_counts(counter *context, int runs, int ends) {
    CHECK(reaches(&context->ends, ends));
    CHECK_INT_EQ(atomic_load(&context->runs), runs);
    CHECK_INT_EQ(atomic_load(&context->ends), ends);
}

typedef struct where {
    worker thread;
    vow_executor *executors[4];
} where;

static void where_open(where *self) {
    worker_start(&self->thread);
    self->executors[0] = vow_executor_inline();
    self->executors[1] = vow_executor_pool();
    self->executors[2] = vow_executor_serial("lifetime");
    self->executors[3] = vow_executor_custom(&worker_class, &self->thread);
}

static void where_close(where *self) {
    vow_executor_release(self->executors[2]);
    vow_executor_release(self->executors[3]);
    worker_stop(&self->thread);
    CHECK_INT_EQ(atomic_load(&self->thread.destroyed), 1);
}

TEST("G3: a reaction on a promise that breaks") {
    counter context = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = link_full(vow_executor_inline(), promise, counter_run, NULL, &context, counter_end);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
    check_counts(&context, 0, 1);
}

TEST("G3: reactions that moved with an adoption") {
    counter context = {0};
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    for (int i = 0; i < 10; i++) {
        if (i == 5) {
            CHECK(vow_resolve(outer_resolver, vow_from_promise(inner)));
        }
        vow_promise_release(link_full(vow_executor_inline(), vow_promise_retain(outer), counter_run,
                                      NULL, &context, counter_end));
    }
    vow_resolver_release(outer_resolver);
    vow_promise_release(outer);
    CHECK_INT_EQ(atomic_load(&context.ends), 0);
    CHECK(vow_resolve(inner_resolver, vow_int(1)));
    vow_resolver_release(inner_resolver);
    check_counts(&context, 10, 10);
}

TEST("G3: a registration that fails destroys its context") {
    static vow_promise *no_promise;
    counter context = {0};
    CHECK_INT_EQ(code_of(link_full(NULL, no_promise, counter_run, NULL, &context, counter_end)),
                 VOW_EINVAL);
    check_counts(&context, 0, 1);
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = counter_run;
    reaction.context = &context;
    reaction.destroy = counter_end;
    reaction.flags = 0x80000000u;
    CHECK_INT_EQ(code_of(vow_then_with(fulfilled_int(1), &reaction)), VOW_EINVAL);
    check_counts(&context, 0, 2);
}

TEST("G3: a chain of a thousand links ends a thousand contexts, resolved or rejected") {
    where all;
    where_open(&all);
    for (int i = 0; i < 4; i++) {
        for (int rejects = 0; rejects < 2; rejects++) {
            counter context = {0};
            vow_resolver *resolver;
            vow_promise *promise = vow_promise_create(&resolver);
            for (int link = 0; link < 1000; link++) {
                promise =
                    link_full(all.executors[i], promise, counter_run, NULL, &context, counter_end);
            }
            CHECK(rejects ? vow_reject(resolver, vow_error("test", 6, NULL))
                          : vow_resolve(resolver, vow_int(6)));
            vow_resolver_release(resolver);
            CHECK_INT_EQ(code_of(promise), rejects ? 6 : 0);
            check_counts(&context, rejects ? 0 : 1000, 1000);
        }
    }
    where_close(&all);
}

static void *register_many(void *context) {
    void **both = context;
    for (int i = 0; i < 1000; i++) {
        vow_promise_release(link_full(vow_executor_inline(), vow_promise_retain(both[0]),
                                      counter_run, counter_run, both[1], counter_end));
    }
    return NULL;
}

TEST("G3: nothing is lost when threads register while another one settles") {
    for (int round = 0; round < 20; round++) {
        counter context = {0};
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        void *both[2] = {promise, &context};
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) {
            threads[i] = start_thread(register_many, both);
        }
        usleep((useconds_t)(round * 20));
        CHECK(vow_resolve(resolver, vow_int(1)));
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        vow_resolver_release(resolver);
        vow_promise_release(promise);
        check_counts(&context, 3000, 3000);
    }
}
