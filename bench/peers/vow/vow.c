/* Vow, through its header and shared library. W1 to W7 and W11 use the inline executor, as the
 * peers' handlers run inline. */
#include "vow_peer.h"

const char *peer_version(void) {
    return VOW_VERSION_STRING;
}

static vow_promise **promises;
static vow_resolver **resolvers;
static vow_promise *settled;
static size_t ran; /* handlers of this pass, on one thread at a time */

static void begin_inline(size_t n) {
    (void)n;
    vow_executor_set_default(vow_executor_inline());
}

static void begin_arrays(size_t n) {
    begin_inline(n);
    promises = peer_array(n, sizeof *promises);
    resolvers = peer_array(n, sizeof *resolvers);
}

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    ran++;
    return vow_int(input.as.integer + 1);
}

/* W1 */
static void create_resolve_release(size_t n) {
    for (size_t i = 0; i < n; i++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        settle(resolver, 1);
        vow_promise_release(promise);
    }
}

/* W2 */
static void chain(size_t n) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (size_t i = 0; i < n; i++) {
        promise = vow_then(promise, add_one, NULL);
    }
    settle(resolver, 0);
    vow_value value;
    peer_expect(vow_promise_peek(promise, &value) && value.as.integer == (int64_t)n, "W2");
    vow_promise_release(promise);
}

/* W3 */
static void begin_settled(size_t n) {
    begin_inline(n);
    settled = vow_promise_with(vow_int(1));
}

static void then_on_settled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(vow_then(vow_promise_retain(settled), add_one, NULL));
    }
    peer_expect(ran == n, "W3");
}

/* W4 */
static void many_handlers(size_t n) {
    ran = 0;
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(vow_then(vow_promise_retain(promise), add_one, NULL));
    }
    settle(resolver, 1);
    vow_promise_release(promise);
    peer_expect(ran == n, "W4");
}

/* W5 */
static void all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
    vow_promise *together = vow_all(promises, n);
    for (size_t i = 0; i < n; i++) {
        settle(resolvers[i], (int64_t)i);
    }
    vow_value list;
    size_t sum = 0;
    peer_expect(vow_promise_peek(together, &list) && vow_list_count(list) == n, "W5");
    for (size_t i = 0; i < n; i++) {
        sum += (size_t)vow_list_at(list, i).as.integer;
    }
    peer_expect(sum == n * (n - 1) / 2, "W5: sum");
    vow_promise_release(together);
}

/* W7 */
static vow_value count_down(vow_value input, void *context) {
    ran++;
    if (input.as.integer == 0) {
        return vow_int(0);
    }
    vow_promise *next = vow_promise_with(vow_int(input.as.integer - 1));
    return vow_from_promise(vow_then(next, count_down, context));
}

static void recursion(size_t n) {
    ran = 0;
    vow_promise *promise = vow_then(vow_promise_with(vow_int((int64_t)n)), count_down, NULL);
    peer_expect(vow_promise_state(promise) == VOW_FULFILLED && ran == n + 1, "W7");
    vow_promise_release(promise);
}

/* W9: only what keeps the promise pending is held. */
static void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(vow_then(vow_promise_create(&resolvers[i]), add_one, NULL));
    }
}

static void settle_pending(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        settle(resolvers[i], 1);
    }
    peer_expect(ran == n, "W9");
}

/* W11: the reader cancels its link, which goes up to the promise; then all is freed. */
static void make_links(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        promises[i] = vow_then(vow_promise_create(&resolvers[i]), add_one, NULL);
    }
}

static void cancel_links(size_t n) {
    for (size_t i = 0; i < n; i++) {
        peer_expect(vow_cancel(promises[i]), "W11");
        vow_promise_release(promises[i]);
        vow_resolver_release(resolvers[i]);
    }
    peer_expect(ran == 0, "W11: a cancelled handler ran");
}

const peer_workload peer_workloads[] = {
    {.name = "W1", .begin = begin_inline, .pass = create_resolve_release},
    {.name = "W2", .begin = begin_inline, .pass = chain},
    {.name = "W3", .begin = begin_settled, .pass = then_on_settled},
    {.name = "W4", .begin = begin_inline, .pass = many_handlers},
    {.name = "W5", .begin = begin_arrays, .pass = all},
    {.name = "W6a", .begin = begin_serial, .pass = serial_chain},
    {.name = "W6b", .pass = pool_chain},
    {.name = "W6c", .begin = begin_serial, .pass = serial_handlers},
    {.name = "W7", .begin = begin_inline, .pass = recursion},
    {.name = "W8",
     .begin = begin_round_trips,
     .prepare = make_round_trips,
     .pass = round_trips,
     .clean = free_round_trips},
    {.name = "W9", .begin = begin_arrays, .pass = pend, .clean = settle_pending, .held = true},
    {.name = "W10", .begin = begin_pairs, .prepare = make_pairs, .pass = race},
    {.name = "W11", .begin = begin_arrays, .prepare = make_links, .pass = cancel_links},
    {.name = "W12", .begin = begin_loop, .pass = loop_items},
    {.name = NULL},
};
