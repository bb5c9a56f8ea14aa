/* The workloads over promise.h. */
#include "duel.h"
#include "peer.h"
#include "promise.h"

#include <stdatomic.h>

const char *peer_version(void) {
    return "-";
}

static promise **promises, **derived;
static long *results;
static dispatch_queue_t serial;
static promise *settled;
static _Atomic size_t ran;

static result add_one(long input, void *context) {
    (void)context;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return (result){input + 1, NULL};
}

static void resolve(promise *self, long number) {
    promise_resolve(self, (result){number, NULL});
}

static void begin_arrays(size_t n) {
    promises = peer_array(2 * n, sizeof *promises);
    derived = peer_array(n, sizeof *derived);
    results = peer_array(n, sizeof *results);
}

static void make(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = promise_create();
    }
}

static void release_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promise_release(promises[i]);
    }
}

/* W1 */
static void create_resolve_release(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promise *each = promise_create();
        resolve(each, 1);
        promise_release(each);
    }
}

/* W2, W6a, W6b */
static void chain_on(dispatch_queue_t queue, size_t n) {
    ran = 0;
    promise *first = promise_create(), *last = promise_retain(first);
    for (size_t i = 0; i < n; i++) {
        promise *next = promise_then(last, queue, add_one, NULL);
        promise_release(last);
        last = next;
    }
    resolve(first, 0);
    peer_expect(promise_await(last) == (long)n && ran == n, "W2, W6");
    promise_release(first);
    promise_release(last);
}

static void chain(size_t n) {
    chain_on(NULL, n);
}

static void begin_serial(size_t n) {
    (void)n;
    serial = dispatch_queue_create("bench", DISPATCH_QUEUE_SERIAL);
}

static void serial_chain(size_t n) {
    chain_on(serial, n);
}

static void pool_chain(size_t n) {
    chain_on(dispatch_get_global_queue(0, 0), n);
}

/* W3 */
static void begin_settled(size_t n) {
    (void)n;
    settled = promise_create();
    resolve(settled, 1);
}

static void then_on_settled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        promise_release(promise_then(settled, NULL, add_one, NULL));
    }
    peer_expect(ran == n, "W3");
}

/* W4, W6c */
static void handlers_on(dispatch_queue_t queue, size_t n) {
    ran = 0;
    promise *first = promise_create(), *last = NULL;
    for (size_t i = 0; i < n; i++) {
        if (last != NULL) {
            promise_release(last);
        }
        last = promise_then(first, queue, add_one, NULL);
    }
    resolve(first, 1);
    promise_await(last);
    peer_expect(ran == n, "W4, W6c");
    promise_release(last);
    promise_release(first);
}

static void many_handlers(size_t n) {
    handlers_on(NULL, n);
}

static void serial_handlers(size_t n) {
    handlers_on(serial, n);
}

/* W5 */
static void all(size_t n) {
    make(n);
    promise *together = promise_all(promises, n, results);
    for (size_t i = 0; i < n; i++) {
        resolve(promises[i], (long)i);
    }
    long unused;
    size_t sum = 0;
    peer_expect(promise_peek(together, &unused), "W5");
    for (size_t i = 0; i < n; i++) {
        sum += (size_t)results[i];
    }
    peer_expect(sum == n * (n - 1) / 2, "W5: sum");
    release_all(n);
    promise_release(together);
}

/* W7: each level hops to a queue, as PromiseKit's handlers do, so that it does not run inside
 * another */
static result count_down(long input, void *context) {
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    if (input == 0) {
        return (result){0, NULL};
    }
    promise *next = promise_create();
    resolve(next, input - 1);
    promise *rest = promise_then(next, serial, count_down, context);
    promise_release(next);
    return (result){0, rest};
}

static void recursion(size_t n) {
    ran = 0;
    promise *first = promise_create();
    resolve(first, (long)n);
    promise *last = promise_then(first, serial, count_down, NULL);
    promise_await(last);
    peer_expect(ran == n + 1, "W7");
    promise_release(first);
    promise_release(last);
}

/* W8: the other thread's promises are the upper half. */
static void make_round_trips(size_t n) {
    make(2 * n);
}

static void ping(size_t n) {
    for (size_t i = 0; i < n; i++) {
        resolve(promises[i], 1);
        promise_await(promises[n + i]);
    }
}

static void pong(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promise_await(promises[i]);
        resolve(promises[n + i], 1);
    }
}

static void round_trips(size_t n) {
    duel(ping, pong, n);
}

static void free_round_trips(size_t n) {
    release_all(2 * n);
}

/* W9 */
static void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = promise_create();
        promise_release(promise_then(promises[i], NULL, add_one, NULL));
    }
}

static void settle_pending(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        resolve(promises[i], 1);
    }
    release_all(n);
    peer_expect(ran == n, "W9");
}

/* W10 */
static void register_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(0, i / DUEL_STRIDE);
        }
        promise_release(promise_then(promises[i], NULL, add_one, NULL));
    }
}

static void resolve_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(1, i / DUEL_STRIDE);
        }
        resolve(promises[i], 1);
    }
}

static void race(size_t n) {
    ran = 0;
    duel(register_all, resolve_all, n);
    release_all(n);
    peer_expect(ran == n, "W10");
}

const peer_workload peer_workloads[] = {
    {.name = "W1", .pass = create_resolve_release},
    {.name = "W2", .pass = chain},
    {.name = "W3", .begin = begin_settled, .pass = then_on_settled},
    {.name = "W4", .pass = many_handlers},
    {.name = "W5", .begin = begin_arrays, .pass = all},
    {.name = "W6a", .begin = begin_serial, .pass = serial_chain},
    {.name = "W6b", .pass = pool_chain},
    {.name = "W6c", .begin = begin_serial, .pass = serial_handlers},
    {.name = "W7", .begin = begin_serial, .pass = recursion},
    {.name = "W8",
     .begin = begin_arrays,
     .prepare = make_round_trips,
     .pass = round_trips,
     .clean = free_round_trips},
    {.name = "W9", .begin = begin_arrays, .pass = pend, .clean = settle_pending, .held = true},
    {.name = "W10", .begin = begin_arrays, .prepare = make, .pass = race},
    {.name = NULL},
};
