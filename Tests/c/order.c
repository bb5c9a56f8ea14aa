/* Tests G2: handlers of one promise on one executor start in the order of registration. */
#include "worker.h"

/* Registers count entries on a promise (borrowed), numbered from `from`. */
static void write_all(vow_executor *executor, vow_promise *promise, entry *entries, journal *in,
                      int from, int count) {
    for (int i = from; i < from + count; i++) {
        entries[i].in = in;
        entries[i].number = i;
        vow_promise *link =
            either_on(executor, vow_promise_retain(promise), entry_write, &entries[i]);
        vow_promise_release(link);
    }
}

static void order_on(vow_executor *executor) {
    journal seen = {0};
    entry entries[40];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    write_all(executor, promise, entries, &seen, 0, 20);
    CHECK(vow_resolve(resolver, vow_int(1)));
    write_all(executor, promise, entries, &seen, 20, 20);
    CHECK(reaches(&seen.count, 40));
    journal_counts_to(&seen, 40);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("G2: before and after settling, on a serial executor") {
    vow_executor *serial = vow_executor_serial("order");
    order_on(serial);
    vow_executor_release(serial);
}

TEST("G2: before and after settling, on an executor of the program") {
    worker thread;
    worker_start(&thread);
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    order_on(executor);
    vow_executor_release(executor);
    worker_stop(&thread);
    CHECK_INT_EQ(atomic_load(&thread.destroyed), 1);
}

TEST("G2: handlers for fulfilment, for rejection and for both keep one order") {
    journal seen = {0};
    entry entries[9];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    int next = 0;
    for (int i = 0; i < 9; i++) {
        entries[i].in = &seen;
        bool runs = i % 3 != 0;
        entries[i].number = runs ? next++ : -1;
        vow_handler on_value = i % 3 == 1 ? NULL : entry_write;
        vow_handler on_error = i % 3 == 0 ? NULL : entry_write;
        vow_promise *link = link_full(vow_executor_inline(), vow_promise_retain(promise), on_value,
                                      on_error, &entries[i], NULL);
        vow_promise_release(catch_inline(link, give_code, NULL));
    }
    CHECK(vow_reject(resolver, vow_error("test", 1, NULL)));
    journal_counts_to(&seen, 6);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("G2: an adopted promise keeps the order of the promise that adopted it") {
    journal seen = {0};
    entry entries[30];
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    write_all(vow_executor_inline(), outer, entries, &seen, 0, 10);
    CHECK(vow_resolve(outer_resolver, vow_from_promise(vow_promise_retain(inner))));
    write_all(vow_executor_inline(), outer, entries, &seen, 10, 10);
    CHECK(vow_resolve(inner_resolver, vow_int(1)));
    write_all(vow_executor_inline(), outer, entries, &seen, 20, 10);
    journal_counts_to(&seen, 30);
    vow_resolver_release(outer_resolver);
    vow_resolver_release(inner_resolver);
    vow_promise_release(outer);
    vow_promise_release(inner);
}

TEST("G2: two executors on one promise keep their order each") {
    journal left = {0};
    journal right = {0};
    entry lefts[20];
    entry rights[20];
    vow_executor *first = vow_executor_serial("left");
    vow_executor *second = vow_executor_serial("right");
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 20; i++) {
        write_all(first, promise, lefts, &left, i, 1);
        write_all(second, promise, rights, &right, i, 1);
        if (i == 10) {
            CHECK(vow_resolve(resolver, vow_int(1)));
        }
    }
    CHECK(reaches(&left.count, 20));
    CHECK(reaches(&right.count, 20));
    journal_counts_to(&left, 20);
    journal_counts_to(&right, 20);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_executor_release(first);
    vow_executor_release(second);
}

static vow_value wait_a_little(vow_value input, void *context) {
    counter_run(input, context);
    usleep(30000);
    return vow_int(1);
}

typedef struct registrar {
    vow_promise *promise;
    counter *first;
    journal *in;
    entry *entries;
} registrar;

static void *register_while_draining(void *context) {
    registrar *self = context;
    reaches(&self->first->runs, 1);
    write_all(vow_executor_inline(), self->promise, self->entries, self->in, 5, 5);
    return NULL;
}

TEST("G2: a handler registered by another thread during the drain waits for the earlier ones") {
    counter first = {0};
    journal seen = {0};
    entry entries[10];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    registrar other = {promise, &first, &seen, entries};
    vow_promise_release(then_inline(vow_promise_retain(promise), wait_a_little, &first));
    write_all(vow_executor_inline(), promise, entries, &seen, 0, 5);
    pthread_t thread = start_thread(register_while_draining, &other);
    CHECK(vow_resolve(resolver, vow_int(1)));
    pthread_join(thread, NULL);
    CHECK(reaches(&seen.count, 10));
    journal_counts_to(&seen, 10);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}
