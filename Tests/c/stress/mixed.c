/* Eight threads do a million mixed operations each on shared promises; every reaction must run
 * once and every context, object and promise must be gone at the end. STRESS_OPS in the
 * environment: operations per thread.
 *
 * A promise that adopts a link of its own would wait for ever, in any library. So promises are of
 * three sorts: BASE ones and their links adopt nothing; ROOTS adopt those or each other, in rings
 * too; LINKS are made from ROOTS or LINKS, and nobody adopts them. Nor is one rejected with a
 * promise: as a payload it could be its own owner. */
#include "stress.h"

#define THREADS 8
#define SLOTS 32

typedef enum sort { BASE, ROOTS, LINKS, SORTS } sort;

typedef struct field {
    _Atomic(vow_promise *) promises[SORTS][SLOTS];
    _Atomic(vow_resolver *) resolvers[LINKS][SLOTS];
    vow_executor *executors[4];
    atomic_long made;      /* reactions with a context */
    atomic_long ran;       /* handlers of them that ran */
    atomic_long ended;     /* contexts that were destroyed */
    atomic_long objects;   /* objects made */
    atomic_long destroyed; /* objects destroyed */
    long ops;
    worker thread;
} field;

static field all;

typedef struct actor {
    uint64_t random;
    long waits;
} actor;

static void object_end(void *pointer) {
    (void)pointer;
    atomic_fetch_add(&all.destroyed, 1);
}

static const vow_class object_class = {sizeof(vow_class), "stress", object_end, NULL};

static void context_end(void *context) {
    (void)context;
    atomic_fetch_add(&all.ended, 1);
}

/* Takes what a slot holds, or NULL. */
static vow_promise *take(actor *self, sort of) {
    return atomic_exchange(&all.promises[of][random_next(&self->random) % SLOTS], NULL);
}

/* Puts a promise (consumed) into a slot and releases what was there. */
static void put(actor *self, sort of, vow_promise *promise) {
    vow_promise_release(
        atomic_exchange(&all.promises[of][random_next(&self->random) % SLOTS], promise));
}

/* A reference of its own to a promise that stays shared, or NULL. */
static vow_promise *borrow(actor *self, sort of) {
    _Atomic(vow_promise *) *slot = &all.promises[of][random_next(&self->random) % SLOTS];
    vow_promise *promise = atomic_exchange(slot, NULL);
    if (promise != NULL) {
        vow_promise_release(atomic_exchange(slot, vow_promise_retain(promise)));
    }
    return promise;
}

static sort any_sort(actor *self) {
    return (sort)(random_next(&self->random) % SORTS);
}

static vow_value some_value(actor *self, sort of) {
    switch (random_next(&self->random) % 8) {
    case 0:
        atomic_fetch_add(&all.objects, 1);
        return vow_object(NULL, &object_class);
    case 1:
        return vow_string("a string on the heap", VOW_NUL_TERMINATED);
    case 2:
        return vow_error("stress", 1, "on purpose");
    case 3:
    case 4: {
        sort from = random_next(&self->random) % 2 == 0 ? BASE : ROOTS;
        vow_promise *promise = of == ROOTS ? borrow(self, from) : NULL;
        return promise != NULL ? vow_from_promise(promise) : vow_none();
    }
    default:
        return vow_int((int64_t)random_next(&self->random));
    }
}

static vow_value handle(vow_value input, void *context) {
    uintptr_t choice = (uintptr_t)context;
    atomic_fetch_add(&all.ran, 1);
    switch (choice % 8) {
    case 0:
        atomic_fetch_add(&all.objects, 1);
        return vow_object(NULL, &object_class);
    case 1:
        return vow_error("stress", 2, "from a handler");
    case 2:
        return vow_from_promise(vow_promise_with(vow_value_retain(input)));
    case 3:
        return vow_value_retain(input);
    default:
        return vow_int((int64_t)choice);
    }
}

static void do_create(actor *self) {
    sort of = random_next(&self->random) % 2 == 0 ? BASE : ROOTS;
    vow_resolver *resolver;
    put(self, of, vow_promise_create(&resolver));
    vow_resolver_release(
        atomic_exchange(&all.resolvers[of][random_next(&self->random) % SLOTS], resolver));
}

static void do_then(actor *self) {
    static const int places[8] = {0, 0, 0, 0, 1, 2, 2, 3};
    sort of = any_sort(self);
    vow_promise *promise = borrow(self, of);
    if (promise != NULL) {
        uint64_t choice = random_next(&self->random);
        atomic_fetch_add(&all.made, 1);
        promise = link_full(all.executors[places[(choice >> 8) % 8]], promise, handle, handle,
                            (void *)(uintptr_t)(choice & 0xffff), context_end);
        if ((choice & 0x10000) != 0) {
            put(self, of == BASE ? BASE : LINKS, promise);
        } else {
            vow_promise_release(promise);
        }
    }
}

static void do_settle(actor *self) {
    uint64_t choice = random_next(&self->random);
    sort of = (choice >> 32) % 2 == 0 ? BASE : ROOTS;
    vow_resolver *resolver = atomic_exchange(&all.resolvers[of][choice % SLOTS], NULL);
    if (resolver == NULL) {
        return;
    }
    if ((choice & 0x700) == 0) {
        vow_resolver *again = vow_resolver_retain(resolver);
        vow_resolver_release(atomic_exchange(&all.resolvers[of][(choice >> 16) % SLOTS], again));
    }
    if ((choice & 0x3000) == 0) {
        vow_reject(resolver, some_value(self, BASE));
    } else if ((choice & 0xf0000) != 0) {
        vow_resolve(resolver, some_value(self, of));
    }
    vow_resolver_release(resolver);
}

static void do_wait(actor *self) {
    vow_promise *promise = borrow(self, any_sort(self));
    if (promise != NULL) {
        vow_value out;
        bool shortly = self->waits++ % 64 == 0;
        int answer = vow_await(promise, shortly ? 20000 : 0, &out);
        CHECK(answer == (int)VOW_PENDING || answer == (int)VOW_FULFILLED ||
              answer == (int)VOW_REJECTED);
        vow_value_release(out);
        vow_promise_release(promise);
    }
}

static void do_look(actor *self) {
    vow_promise *promise = borrow(self, any_sort(self));
    if (promise != NULL) {
        vow_value out;
        bool settled = vow_promise_peek(promise, &out);
        CHECK(!settled || vow_promise_state(promise) != VOW_PENDING);
        CHECK(settled || out.kind == VOW_NONE);
        vow_promise_release(promise);
    }
}

/* Lets the executors come to an end with what they have, so that no backlog grows. */
static void drain(void) {
    for (int i = 1; i < 4; i++) {
        vow_promise *promise = vow_async(all.executors[i], add_one, NULL);
        CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, NULL), VOW_FULFILLED);
        vow_promise_release(promise);
    }
}

static void *act(void *context) {
    actor self = {random_seed((int)(intptr_t)context), 0};
    for (long op = 0; op < all.ops; op++) {
        uint64_t choice = random_next(&self.random) % 100;
        if (choice < 22) {
            do_create(&self);
        } else if (choice < 45) {
            do_then(&self);
        } else if (choice < 68) {
            do_settle(&self);
        } else if (choice < 80) {
            do_wait(&self);
        } else if (choice < 90) {
            do_look(&self);
        } else {
            vow_promise_release(take(&self, any_sort(&self)));
        }
        if (op % 4096 == 4095) {
            drain();
        }
    }
    return NULL;
}

static bool reach(atomic_long *number, long value) {
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (atomic_load(number) != value && now_ns() < limit) {
        usleep(200);
    }
    return CHECK_INT_EQ(atomic_load(number), value);
}

TEST("G1 to G5: nothing is lost, doubled or leaked by eight threads of mixed operations") {
    pthread_t threads[THREADS];
    vow_on_unhandled(stress_ignore, NULL);
    worker_start(&all.thread);
    all.ops = size_of_run("STRESS_OPS", 1000000);
    all.executors[0] = vow_executor_inline();
    all.executors[1] = vow_executor_pool();
    all.executors[2] = vow_executor_serial("stress");
    all.executors[3] = vow_executor_custom(&worker_class, &all.thread);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = start_thread(act, (void *)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < LINKS * SLOTS; i++) {
        vow_resolver_release(atomic_exchange(&all.resolvers[i / SLOTS][i % SLOTS], NULL));
    }
    for (int i = 0; i < SORTS * SLOTS; i++) {
        vow_promise_release(atomic_exchange(&all.promises[i / SLOTS][i % SLOTS], NULL));
    }
    reach(&all.ran, atomic_load(&all.made));
    reach(&all.ended, atomic_load(&all.made));
    reach(&all.destroyed, atomic_load(&all.objects));
    printf("# %ld operations per thread, %ld reactions, %ld objects\n", all.ops,
           atomic_load(&all.made), atomic_load(&all.objects));
    CHECK(atomic_load(&all.made) > 0 && atomic_load(&all.objects) > 0);
    vow_executor_release(all.executors[2]);
    vow_executor_release(all.executors[3]);
    worker_stop(&all.thread);
    CHECK_INT_EQ(atomic_load(&all.thread.destroyed), 1);
    vow_on_unhandled(NULL, NULL);
}
