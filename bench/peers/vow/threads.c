/* Several threads: queues and the pool, blocking, a race. */
#include "duel.h"
#include "vow_peer.h"

#include <stdatomic.h>

static vow_promise **promises;
static vow_resolver **resolvers;
static vow_executor *serial;
static size_t ran; /* by one handler at a time */

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    ran++;
    return vow_int(input.as.integer + 1);
}

void begin_pairs(size_t n) {
    vow_executor_set_default(vow_executor_inline());
    promises = peer_array(n, sizeof *promises);
    resolvers = peer_array(n, sizeof *resolvers);
}

/* W6 */
void begin_serial(size_t n) {
    (void)n;
    serial = vow_executor_serial("bench");
}

static void hops(size_t n, vow_executor *executor) {
    ran = 0;
    vow_reaction reaction = {
        .size = sizeof reaction, .on_fulfilled = add_one, .executor = executor};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (size_t i = 0; i < n; i++) {
        promise = vow_then_with(promise, &reaction);
    }
    settle(resolver, 0);
    peer_expect(vow_await(promise, VOW_FOREVER, NULL) == VOW_FULFILLED && ran == n, "W6");
    vow_promise_release(promise);
}

void serial_chain(size_t n) {
    hops(n, serial);
}

void pool_chain(size_t n) {
    hops(n, vow_executor_pool());
}

void serial_handlers(size_t n) {
    ran = 0;
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = add_one, .executor = serial};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver), *last = NULL;
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(last);
        last = vow_then_with(vow_promise_retain(promise), &reaction);
    }
    settle(resolver, 0);
    peer_expect(vow_await(last, VOW_FOREVER, NULL) == VOW_FULFILLED && ran == n, "W6c");
    vow_promise_release(last);
    vow_promise_release(promise);
}

/* W8: the other thread's promises are the upper half. */
void begin_round_trips(size_t n) {
    begin_pairs(2 * n);
}

void make_round_trips(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
}

static void ping(size_t n) {
    for (size_t i = 0; i < n; i++) {
        vow_resolve(resolvers[i], vow_none());
        peer_expect(vow_await(promises[n + i], VOW_FOREVER, NULL) == VOW_FULFILLED, "W8");
    }
}

static void pong(size_t n) {
    for (size_t i = 0; i < n; i++) {
        peer_expect(vow_await(promises[i], VOW_FOREVER, NULL) == VOW_FULFILLED, "W8");
        vow_resolve(resolvers[n + i], vow_none());
    }
}

void round_trips(size_t n) {
    duel(ping, pong, n);
}

void free_round_trips(size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        vow_resolver_release(resolvers[i]);
        vow_promise_release(promises[i]);
    }
}

/* W10 */
void make_pairs(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
}

static _Atomic size_t ran_anywhere;

static vow_value count_anywhere(vow_value input, void *context) {
    (void)context;
    atomic_fetch_add_explicit(&ran_anywhere, 1, memory_order_relaxed);
    return input;
}

static void register_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(0, i / DUEL_STRIDE);
        }
        vow_promise_release(vow_then(promises[i], count_anywhere, NULL));
    }
}

static void resolve_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(1, i / DUEL_STRIDE);
        }
        settle(resolvers[i], 1);
    }
}

void race(size_t n) {
    ran_anywhere = 0;
    duel(register_all, resolve_all, n);
    peer_expect(ran_anywhere == n, "W10");
}
