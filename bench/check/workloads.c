/* The workloads. `workloads --list` names them; `workloads NAME SIZE` runs one and prints what was
 * measured, and over how many items; `workloads NAME SIZE NAME SIZE...` runs each in a child of its
 * own, and prints `= NAME SIZE PID` behind what the child has printed. Each workload checks that
 * its work was done. */
#define _GNU_SOURCE
#include "workloads.h"
#include "check.h"

#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vow.h>

vow_promise *promises[MOST], *derived[MOST];
vow_resolver *resolvers[MOST];
size_t items;
size_t ran;

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    ran++;
    return vow_int(input.as.integer + 1);
}

vow_value count_run(vow_value input, void *context) {
    (void)input;
    (void)context;
    ran++;
    return vow_none();
}

static int64_t integer_of(vow_promise *promise) {
    vow_value value;
    CHECK(vow_promise_peek(promise, &value));
    CHECK(value.kind == VOW_INT);
    return value.as.integer;
}

vow_promise *then_on(vow_promise *promise, vow_handler handler, vow_executor *executor) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.executor = executor;
    return vow_then_with(promise, &reaction);
}

void make(size_t count) {
    for (size_t i = 0; i < count; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
}

void resolve(size_t index) {
    CHECK(vow_resolve(resolvers[index], vow_int((int64_t)index)));
    vow_resolver_release(resolvers[index]);
}

void release_promises(size_t count) {
    for (size_t i = 0; i < count; i++) {
        vow_promise_release(promises[i]);
    }
}

static void create(size_t size) {
    vow_promise *promise = NULL;
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_resolver *resolver;
        promise = vow_promise_create(&resolver);
        CHECK(vow_resolve(resolver, vow_int((int64_t)i)));
        vow_resolver_release(resolver);
        if (i + 1 < size) {
            vow_promise_release(promise);
        }
    }
    CHECK(integer_of(promise) == (int64_t)size - 1);
    vow_promise_release(promise);
    measure_end();
    items = size;
}

static void retain(size_t size) {
    vow_promise *promise = vow_promise_with(vow_int(1));
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_promise_release(vow_promise_retain(promise));
    }
    measure_end();
    CHECK(integer_of(promise) == 1);
    vow_promise_release(promise);
    items = size;
}

/* Builds, runs and frees one chain. */
static void run_chain(size_t links) {
    vow_resolver *resolver;
    ran = 0;
    vow_promise *promise = vow_promise_create(&resolver);
    for (size_t i = 0; i < links; i++) {
        promise = vow_then(promise, add_one, NULL);
    }
    CHECK(vow_resolve(resolver, vow_int(0)));
    vow_resolver_release(resolver);
    CHECK(integer_of(promise) == (int64_t)links);
    vow_promise_release(promise);
    CHECK(ran == links);
}

static void link_inline(size_t size) {
    for (int i = 0; i < 20; i++) {
        measure_begin();
        run_chain(size);
        measure_end();
        items += size;
    }
}

static void chain_inline(size_t size) {
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        run_chain(100);
    }
    measure_end();
    items = size;
}

static void then_settled(size_t size) {
    vow_promise *promise = vow_promise_with(vow_int(1));
    vow_promise *neighbour = vow_promise_with(vow_int(2)); /* so that nothing else is near it */
    measure_watch(promise, 40);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_promise_release(vow_then(vow_promise_retain(promise), add_one, NULL));
    }
    measure_end();
    CHECK(ran == size);
    vow_promise_release(promise);
    vow_promise_release(neighbour);
    items = size;
}

static void handlers_dropped(size_t size) {
    for (int i = 0; i < 10; i++) {
        ran = 0;
        measure_begin();
        make(1);
        for (size_t j = 0; j < size; j++) {
            vow_promise_release(vow_then(vow_promise_retain(promises[0]), count_run, NULL));
        }
        resolve(0);
        release_promises(1);
        measure_end();
        CHECK(ran == size);
        items += size;
    }
}

static void handlers_kept(size_t size) {
    for (int i = 0; i < 10; i++) {
        ran = 0;
        measure_begin();
        make(1);
        for (size_t j = 0; j < size; j++) {
            derived[j] = vow_then(vow_promise_retain(promises[0]), count_run, NULL);
        }
        resolve(0);
        for (size_t j = 0; j < size; j++) {
            vow_promise_release(derived[j]);
        }
        release_promises(1);
        measure_end();
        CHECK(ran == size);
        items += size;
    }
}

static void check_list(vow_promise *all, size_t size) {
    vow_value list;
    CHECK(vow_promise_peek(all, &list));
    CHECK(vow_list_count(list) == size);
    CHECK(vow_list_at(list, size - 1).as.integer == (int64_t)size - 1);
    vow_promise_release(all);
}

static void all_members(size_t size) {
    for (int i = 0; i < 10; i++) {
        measure_begin();
        make(size);
        vow_promise *all = vow_all(promises, size);
        for (size_t j = 0; j < size; j++) {
            resolve(j);
        }
        check_list(all, size);
        measure_end();
        items += size;
    }
}

static void all_itself(size_t size) {
    for (size_t i = 0; i < size; i++) {
        make(1000);
        measure_begin();
        vow_promise *all = vow_all(promises, 1000);
        for (size_t j = 0; j < 1000; j++) {
            resolve(j);
        }
        check_list(all, 1000);
        measure_end();
    }
    items = size;
}

static void settle(size_t size) {
    make(size);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_int((int64_t)i)));
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        CHECK(integer_of(promises[i]) == (int64_t)i);
        vow_resolver_release(resolvers[i]);
    }
    release_promises(size);
    items = size;
}

/* Runs all handlers, but neither makes nor frees what they settle. */
static void settle_handlers(size_t size) {
    for (int i = 0; i < 10; i++) {
        ran = 0;
        make(2); /* the second one so that nothing else is near the first */
        measure_watch(promises[0], 40);
        for (size_t j = 0; j < size; j++) {
            derived[j] = vow_then(vow_promise_retain(promises[0]), count_run, NULL);
        }
        measure_begin();
        CHECK(vow_resolve(resolvers[0], vow_int(1)));
        measure_end();
        CHECK(ran == size);
        for (size_t j = 0; j < size; j++) {
            vow_promise_release(derived[j]);
        }
        vow_resolver_release(resolvers[0]);
        resolve(1);
        release_promises(2);
        items += size;
    }
}

static void adopt_settled(size_t size) {
    vow_promise *inner = vow_promise_with(vow_int(7));
    make(size);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_from_promise(vow_promise_retain(inner))));
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        CHECK(integer_of(promises[i]) == 7);
        vow_resolver_release(resolvers[i]);
    }
    release_promises(size);
    vow_promise_release(inner);
    items = size;
}

/* Each adopts a promise of its own, which then settles. */
static void adopt_pending(size_t size) {
    vow_resolver **inner = malloc(size * sizeof *inner);
    CHECK(inner != NULL);
    make(size);
    for (size_t i = 0; i < size; i++) {
        derived[i] = vow_promise_create(&inner[i]);
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_from_promise(derived[i])));
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(inner[i], vow_int((int64_t)i)));
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        CHECK(integer_of(promises[i]) == (int64_t)i);
        vow_resolver_release(resolvers[i]);
        vow_resolver_release(inner[i]);
    }
    release_promises(size);
    free(inner);
    items = size;
}

static vow_promise *recurse_from(intptr_t level);

static vow_value recurse(vow_value input, void *context) {
    (void)input;
    intptr_t level = (intptr_t)context;
    ran++;
    return level == 0 ? vow_int(42) : vow_from_promise(recurse_from(level - 1));
}

static vow_promise *recurse_from(intptr_t level) {
    return vow_then(vow_promise_with(vow_none()), recurse, (void *)level);
}

static void recursion(size_t size) {
    measure_begin();
    vow_promise *promise = recurse_from((intptr_t)size);
    CHECK(integer_of(promise) == 42);
    vow_promise_release(promise);
    measure_end();
    CHECK(ran == size + 1);
    items = size;
}

/* Two objects for each: the promise, and what its handler will settle, which nobody holds. */
static void pending(size_t size) {
    measure_begin();
    make(size);
    for (size_t i = 0; i < size; i++) {
        vow_promise_release(vow_then(promises[i], count_run, NULL));
    }
    measure_held();
    measure_end();
    for (size_t i = 0; i < size; i++) {
        resolve(i);
    }
    CHECK(ran == size);
    items = size;
}

/* In a chain each promise but the last is a pending one with one handler. */
static void pending_link(size_t size) {
    make(1);
    measure_begin();
    vow_promise *last = promises[0];
    for (size_t i = 0; i < size; i++) {
        last = vow_then(last, count_run, NULL);
    }
    measure_held();
    measure_end();
    resolve(0);
    CHECK(ran == size);
    vow_promise_release(last);
    items = size;
}

static void cancel_links(size_t size) {
    make(size);
    for (size_t i = 0; i < size; i++) {
        derived[i] = vow_then(promises[i], count_run, NULL);
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_cancel(derived[i]));
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        vow_value error;
        CHECK(vow_promise_peek(derived[i], &error));
        CHECK(vow_error_code(error) == VOW_ECANCELLED);
        vow_promise_release(derived[i]);
        /* It went on upstream: too late to resolve. */
        CHECK(!vow_resolve(resolvers[i], vow_int(1)));
        vow_resolver_release(resolvers[i]);
    }
    CHECK(ran == 0);
    items = size;
}

/* Builds and frees are measured too. */
static void cancel_whole(size_t size) {
    measure_begin();
    make(size);
    for (size_t i = 0; i < size; i++) {
        derived[i] = vow_then(promises[i], count_run, NULL);
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_cancel(derived[i]));
        vow_promise_release(derived[i]);
        vow_resolver_release(resolvers[i]);
    }
    measure_end();
    CHECK(ran == 0);
    items = size;
}

/* ---------------------------------------------------------------------- several threads, loops */

static void nothing(void *context) {
    (void)context;
}

static void wait_for(void *semaphore) {
    dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
}

/* Returns when the queue has run all that it was given. */
static void drain_queue(dispatch_queue_t queue) {
    for (int i = 0; i < 3; i++) {
        dispatch_sync_f(queue, NULL, nothing);
    }
}

typedef struct serial {
    dispatch_queue_t queue;
    vow_executor *executor;
} serial;

static serial serial_make(void) {
    serial made;
    made.queue = dispatch_queue_create("check", NULL);
    made.executor = vow_executor_dispatch(made.queue, VOW_SERIAL);
    CHECK(made.executor != NULL);
    return made;
}

static void serial_release(const serial *it) {
    vow_executor_release(it->executor);
    drain_queue(it->queue);
    dispatch_release(it->queue);
}

/* Nobody waits for the chain but for the queue to be empty. */
static void run_serial_chain(const serial *on, size_t links) {
    ran = 0;
    make(1);
    vow_promise *promise = promises[0];
    for (size_t i = 0; i < links; i++) {
        promise = then_on(promise, add_one, on->executor);
    }
    resolve(0);
    while (vow_promise_state(promise) == VOW_PENDING) {
        drain_queue(on->queue);
    }
    drain_queue(on->queue);
    CHECK(integer_of(promise) == (int64_t)links);
    vow_promise_release(promise);
    CHECK(ran == links);
}

static void link_serial(size_t size) {
    serial on = serial_make();
    run_serial_chain(&on, size); /* libdispatch makes its threads */
    for (int i = 0; i < 20; i++) {
        measure_begin();
        run_serial_chain(&on, size);
        measure_end();
        items += size;
    }
    serial_release(&on);
}

static void chain_serial(size_t size) {
    serial on = serial_make();
    for (size_t i = 0; i < size; i++) {
        measure_begin();
        run_serial_chain(&on, 100);
        measure_end();
    }
    serial_release(&on);
    items = size;
}

static void run_serial_handlers(const serial *on, size_t count) {
    ran = 0;
    make(1);
    for (size_t i = 0; i < count; i++) {
        vow_promise_release(then_on(vow_promise_retain(promises[0]), count_run, on->executor));
    }
    resolve(0);
    release_promises(1);
}

static void check_serial_handlers(const serial *on, size_t count) {
    do {
        drain_queue(on->queue);
    } while (*(volatile size_t *)&ran < count);
    CHECK(ran == count);
}

/* The queue is busy until all is submitted, so that every run takes the same steps. */
static void handlers_serial(size_t size) {
    serial on = serial_make();
    dispatch_semaphore_t gate = dispatch_semaphore_create(0);
    for (int i = 0; i <= 20; i++) {
        dispatch_async_f(on.queue, gate, wait_for);
        if (i > 0) { /* before that, libdispatch makes its threads */
            measure_begin();
        }
        run_serial_handlers(&on, size);
        dispatch_semaphore_signal(gate);
        check_serial_handlers(&on, size);
        if (i > 0) {
            measure_end();
            items += size;
        }
    }
    dispatch_release(gate);
    serial_release(&on);
}

/* The queue is idle, and may have run the first ones while the others are submitted. */
static void batch_serial(size_t size) {
    serial on = serial_make();
    for (size_t i = 0; i < size; i++) {
        measure_begin();
        run_serial_handlers(&on, 1000);
        check_serial_handlers(&on, 1000);
        measure_end();
    }
    serial_release(&on);
    items = size;
}

static void link_loop(size_t size) {
    vow_loop *loop = vow_loop_create();
    CHECK(loop != NULL);
    for (int i = 0; i < 20; i++) {
        ran = 0;
        measure_begin();
        make(1);
        vow_promise *promise = promises[0];
        for (size_t j = 0; j < size; j++) {
            promise = then_on(promise, add_one, vow_loop_executor(loop));
        }
        resolve(0);
        CHECK(vow_loop_run_until(loop, promise, VOW_FOREVER) == VOW_FULFILLED);
        CHECK(integer_of(promise) == (int64_t)size);
        vow_promise_release(promise);
        measure_end();
        CHECK(ran == size);
        items += size;
    }
    vow_loop_destroy(loop);
}

/* Delays of a virtual loop, of any length up to a second, that all fire. */
static void timers(size_t size) {
    vow_loop *loop = vow_loop_create_virtual();
    CHECK(loop != NULL);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        promises[i] = vow_delay((int64_t)(i * 7919 % size * (1000000000 / size)));
    }
    CHECK(vow_loop_advance(loop, 1000000000) == (int)size);
    release_promises(size);
    measure_end();
    vow_loop_destroy(loop);
    items = size;
}

/* The letter of the thread's state, as the kernel tells it; takes no memory. */
char state_of(pid_t thread) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    CHECK(length > 0);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    CHECK(name_end != NULL && name_end + 2 < text + length);
    return name_end[2];
}

typedef struct waking {
    pid_t sleeper;
    size_t size;
    _Atomic(vow_resolver *) next;
} waking;

/* Resolves each promise when the other thread sleeps. */
static void *wake_sleeper(void *context) {
    waking *it = context;
    for (size_t i = 0; i < it->size; i++) {
        vow_resolver *resolver;
        while ((resolver = atomic_exchange(&it->next, NULL)) == NULL) {
            sched_yield();
        }
        while (state_of(it->sleeper) != 'S') {
            sched_yield();
        }
        CHECK(vow_resolve(resolver, vow_int((int64_t)i)));
    }
    return NULL;
}

static void await(size_t size) {
    waking other = {(pid_t)syscall(SYS_gettid), size, NULL};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wake_sleeper, &other) == 0);
    make(size);
    for (size_t i = 0; i < size; i++) {
        vow_value value;
        measure_begin();
        atomic_store(&other.next, resolvers[i]);
        CHECK(vow_await(promises[i], VOW_FOREVER, &value) == VOW_FULFILLED);
        measure_end();
        CHECK(value.as.integer == (int64_t)i);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    for (size_t i = 0; i < size; i++) {
        vow_resolver_release(resolvers[i]);
    }
    release_promises(size);
    items = size;
}

/* -------------------------------------------------------------------------------------- the pool
 */

static atomic_size_t ran_elsewhere;

static vow_value count_elsewhere(vow_value input, void *context) {
    (void)context;
    atomic_fetch_add(&ran_elsewhere, 1);
    return vow_value_retain(input);
}

/* Until the workers have run so many, and have freed what they ran. */
static void until_freed(size_t wanted) {
    vow_statistics now = {.size = sizeof now};
    while (atomic_load(&ran_elsewhere) < wanted) {
        sched_yield();
    }
    measure_end();
    do {
        sched_yield();
        CHECK(vow_stats(&now) == 0);
    } while (now.live > 0);
}

/* A thousand at a time, so that no queue grows with the size; and ten for each of the size, for
 * threads take memory in the beginning, as chance will have it. */
enum { POOLED = 1000, FOR_EACH = 10 };

static void pool_job(size_t size) {
    atomic_store(&ran_elsewhere, 0);
    for (size_t done = 0; done < FOR_EACH * size; done += POOLED) {
        measure_begin();
        for (size_t i = 0; i < POOLED; i++) {
            vow_promise_release(vow_async(vow_executor_pool(), count_elsewhere, NULL));
        }
        until_freed(done + POOLED);
    }
    items = FOR_EACH * size;
}

/* A promise made and resolved here, with a handler on the pool. */
static void link_pool(size_t size) {
    atomic_store(&ran_elsewhere, 0);
    for (size_t done = 0; done < FOR_EACH * size; done += POOLED) {
        measure_begin();
        make(POOLED);
        for (size_t i = 0; i < POOLED; i++) {
            vow_promise_release(then_on(promises[i], count_elsewhere, vow_executor_pool()));
        }
        for (size_t i = 0; i < POOLED; i++) {
            resolve(i);
        }
        until_freed(done + POOLED);
    }
    items = FOR_EACH * size;
}

/* 200 promises made and freed, and then the thread rests: it sleeps in a wait that ends at once. */
static void work_and_rest(size_t size) {
    vow_resolver *never;
    vow_promise *waited = vow_promise_create(&never);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        make(200);
        for (size_t j = 0; j < 200; j++) {
            resolve(j);
        }
        release_promises(200);
        CHECK(vow_await(waited, 1, NULL) == (int)VOW_PENDING);
    }
    measure_end();
    vow_resolver_release(never);
    vow_promise_release(waited);
    items = size;
}

/* ------------------------------------------------------------------------------------- fibers */

static vow_value wait_once(vow_value input, void *context) {
    (void)input;
    vow_value value;
    CHECK(vow_await(context, VOW_FOREVER, &value) == (int)VOW_FULFILLED);
    ran++;
    return value;
}

static vow_value yield_often(vow_value input, void *context) {
    (void)input;
    const size_t *times = context;
    for (size_t i = 0; i < *times; i++) {
        CHECK(vow_fiber_yield() == 0);
        ran++;
    }
    return vow_none();
}

static void fiber(size_t size) {
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_promise_release(vow_fiber(NULL, count_run, NULL, NULL));
    }
    measure_end();
    CHECK(ran == size);
    items = size;
}

static void fiber_await(size_t size) {
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        make(1);
        vow_promise *result = vow_fiber(NULL, wait_once, promises[0], NULL);
        CHECK(vow_promise_state(result) == VOW_PENDING);
        resolve(0);
        CHECK(integer_of(result) == 0);
        vow_promise_release(result);
        release_promises(1);
    }
    measure_end();
    CHECK(ran == size);
    items = size;
}

static void fiber_yield(size_t size) {
    measure_begin();
    vow_promise *result = vow_fiber(NULL, yield_often, &size, NULL);
    CHECK(vow_promise_state(result) == VOW_FULFILLED);
    vow_promise_release(result);
    measure_end();
    CHECK(ran == size);
    items = size;
}

/* ----------------------------------------------------------------------------------- the list */

static const workload workloads[] = {
    {"create", "W1 create, resolve, release", 2000, create, false},
    {"retain", "a retain and a release", 2000, retain, false},
    {"link", "W2 a link", 100, link_inline, false},
    {"chain", "W2 a chain of 100 links", 20, chain_inline, false},
    {"then-settled", "W3 then on a settled promise", 2000, then_settled, false},
    {"handlers-dropped", "W4 a handler of 1,000, its promise dropped", 1000, handlers_dropped,
     false},
    {"handlers-kept", "W4 a handler of 1,000, its promise kept", 1000, handlers_kept, false},
    {"all-members", "W5 a promise of all(1,000), created and resolved", 1000, all_members, false},
    {"all-itself", "W5 all(1,000) without its promises", 5, all_itself, false},
    {"settle", "settling a promise", 2000, settle, false},
    {"settle-handlers", "settling, a handler of 1,000", 1000, settle_handlers, false},
    {"adopt-settled", "adopting a settled promise", 2000, adopt_settled, false},
    {"adopt-pending", "adopting a pending promise, which settles", 2000, adopt_pending, false},
    {"recursion", "W7 a level of 10,000", 10000, recursion, false},
    {"pending", "W9 a pending promise with one handler", 1000, pending, false},
    {"pending-link", "W9 a pending link", 1000, pending_link, false},
    {"cancel", "W11 cancelling a promise with a link", 10000, cancel_links, false},
    {"cancel-whole", "W11 the same, built and freed", 10000, cancel_whole, false},
    {"link-loop", "W6 a link on a loop", 100, link_loop, false},
    {"link-serial", "W6 a link on a serial queue", 1000, link_serial, true},
    {"chain-serial", "W6 a chain of 100 on a serial queue", 50, chain_serial, true},
    {"handlers-serial", "W6 a handler of 1,000 on a serial queue", 1000, handlers_serial, true},
    {"batch-serial", "W6 1,000 handlers on a serial queue", 200, batch_serial, true},
    {"pool-job", "a job of the pool", 5000, pool_job, true},
    {"link-pool", "a promise with a link on the pool", 5000, link_pool, true},
    {"await", "W8 a wait that is woken", 100, await, true},
    {"timer", "a delay on a virtual loop that fires", 2000, timers, false},
    {"work-and-rest", "200 promises, and then a rest", 20, work_and_rest, false},
    {"fiber", "a fiber that ends at once", 2000, fiber, false},
    {"fiber-await", "a promise, and a fiber that waits for it", 2000, fiber_await, false},
    {"fiber-yield", "a yield of a fiber", 2000, fiber_yield, false},
};

/* The one with this name, of those and of the curves. */
static const workload *find(const char *name) {
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(name, workloads[i].name) == 0) {
            return &workloads[i];
        }
    }
    for (size_t i = 0; i < curve_count; i++) {
        if (strcmp(name, curves[i].name) == 0) {
            return &curves[i];
        }
    }
    return NULL;
}

static void list(const workload *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        printf("%s\t%zu\t%s\t%s\n", all[i].name, all[i].size,
               all[i].has_threads ? "threads" : "alone", all[i].title);
    }
}

/* Runs it, in a process that has not called the library before. */
static int run(const char *name, const char *text) {
    size_t size = strtoul(text, NULL, 10);
    const workload *wanted = size > 0 && size <= MOST ? find(name) : NULL;
    if (wanted == NULL) {
        fprintf(stderr, "usage: workloads --list | NAME SIZE... (1 to %d)\n", MOST);
        return 2;
    }
    vow_statistics now = {.size = sizeof now};
    measure_start();
    vow_executor_set_default(vow_executor_inline());
    wanted->run(size);
    CHECK(vow_stats(&now) == 0);
    CHECK(now.live == 0);
    printf("items %zu\n", items);
    measure_print();
    return 0;
}

/* Under valgrind a child costs a fraction of what a start costs. */
static int run_each(int count, char **arguments) {
    for (int i = 0; i + 1 < count; i += 2) {
        int status;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            exit(run(arguments[i], arguments[i + 1]));
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "%s %s failed\n", arguments[i], arguments[i + 1]);
            return 1;
        }
        printf("= %s %s %d\n", arguments[i], arguments[i + 1], (int)child);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        list(workloads, sizeof workloads / sizeof *workloads);
        list(curves, curve_count);
        return 0;
    }
    if (count > 3) {
        return run_each(count - 1, arguments + 1);
    }
    return run(count == 3 ? arguments[1] : "", count == 3 ? arguments[2] : "");
}
