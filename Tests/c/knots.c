/* G11: handlers that wait for any, race or some of what waits for them: refused if and only if
 * nothing besides their circle can end it. */
#include "worker.h"

/* ------------------------------------------------ two that wait for the same race */

typedef struct knot {
    vow_executor *held; /* the first handler holds it up */
    vow_promise *(*combine)(vow_promise *const *promises, size_t count);
    vow_promise *outside; /* another member, or NULL */
    vow_promise *_Atomic first;
    atomic_int waits;
    atomic_int refused;
    atomic_int through; /* waits that have ended */
} knot;

static int wait_in_knot(knot *self, vow_promise *promise) {
    atomic_fetch_add(&self->waits, 1);
    int answer = vow_await(promise, VOW_FOREVER, NULL);
    CHECK(answer == VOW_FULFILLED || answer == VOW_EDEADLOCK);
    atomic_fetch_add(&self->refused, answer == VOW_EDEADLOCK);
    atomic_fetch_add(&self->through, 1);
    return answer;
}

static vow_value wait_for_first(vow_value input, void *context) {
    knot *self = context;
    vow_promise *first;
    (void)input;
    while ((first = atomic_load(&self->first)) == NULL) {
        usleep(10);
    }
    return vow_int(wait_in_knot(self, first));
}

/* Waits for one of its own executor's work and another handler, which waits for the same. */
static vow_value tie(vow_value input, void *context) {
    knot *self = context;
    vow_promise *members[3] = {vow_async(self->held, add_one, NULL),
                               vow_async(vow_executor_pool(), wait_for_first, self)};
    size_t count = 2;
    (void)input;
    if (self->outside != NULL) {
        members[count++] = vow_promise_retain(self->outside);
    }
    vow_promise *first = self->combine(members, count);
    atomic_store(&self->first, vow_promise_retain(first));
    int answer = wait_in_knot(self, first);
    vow_promise_release(first);
    return vow_int(answer);
}

static vow_promise *one_of(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 1);
}

static vow_promise *nested(vow_promise *const *promises, size_t count) {
    vow_promise *inner = vow_any(promises, count);
    vow_promise *middle = vow_all(&inner, 1);
    return vow_race(&middle, 1);
}

static int refused_in_knot(vow_promise *(*combine)(vow_promise *const *promises, size_t count),
                           bool has_outside) {
    vow_resolver *resolver = NULL;
    knot self = {.held = vow_executor_serial("knot"), .combine = combine};
    if (has_outside) {
        self.outside = vow_promise_create(&resolver);
    }
    vow_promise *tied = vow_async(self.held, tie, &self);
    if (has_outside) {
        CHECK(reaches(&self.waits, 2));
        usleep(100);
        CHECK(vow_resolve(resolver, vow_int(1)));
        vow_resolver_release(resolver);
    }
    CHECK(int_of(tied) != INT64_MIN);
    /* The other one may still use what is released here. */
    CHECK(reaches(&self.through, 2));
    CHECK(reaches(&self.waits, 2));
    vow_promise_release(atomic_load(&self.first));
    vow_promise_release(self.outside);
    vow_executor_release(self.held);
    return atomic_load(&self.refused);
}

TEST("G11: two handlers that wait for a race whose members wait for them are refused") {
    for (int round = 0; round < 200; round++) {
        CHECK(refused_in_knot(vow_race, false) >= 1);
        CHECK(refused_in_knot(vow_any, false) >= 1);
        CHECK(refused_in_knot(one_of, false) >= 1);
        CHECK(refused_in_knot(nested, false) >= 1);
    }
}

TEST("G11: with a member that somebody else settles nobody is refused") {
    for (int round = 0; round < 200; round++) {
        CHECK_INT_EQ(refused_in_knot(vow_race, true), 0);
        CHECK_INT_EQ(refused_in_knot(vow_any, true), 0);
        CHECK_INT_EQ(refused_in_knot(one_of, true), 0);
        CHECK_INT_EQ(refused_in_knot(nested, true), 0);
    }
}

/* ------------------------------------------------ a scope of which a member leaves meanwhile */

static vow_value wait_for_scope(vow_value input, void *context) {
    vow_scope *scope = vow_scope_create();
    (void)input;
    CHECK_INT_EQ(vow_scope_add(scope, vow_async(context, add_one, NULL)), 0);
    for (int i = 0; i < 8; i++) {
        CHECK_INT_EQ(vow_scope_add(scope, vow_async(vow_executor_pool(), add_one, NULL)), 0);
    }
    vow_promise *end = vow_scope_close(scope);
    int answer = vow_await(end, VOW_FOREVER, NULL);
    vow_promise_release(end);
    return vow_int(answer);
}

TEST("G11: a wait for a scope is refused, though other members of it settle at that moment") {
    vow_executor *serial = vow_executor_serial("scope");
    for (int round = 0; round < 3000; round++) {
        CHECK_INT_EQ(int_of(vow_async(serial, wait_for_scope, serial)), VOW_EDEADLOCK);
    }
    vow_executor_release(serial);
}

/* ------------------------------------------------ any graph of such waits */

enum { HANDLERS = 6, OUTSIDE = 2, COMBINED = 12, NODES = HANDLERS + OUTSIDE + COMBINED };

typedef struct graph graph;

/* One promise: a handler's, one from outside, or a combined one of some before it. */
typedef struct node {
    graph *in;
    vow_promise *promise;
    int members[3];
    int count;
    bool needs_each;
    int awaited; /* by a handler */
    bool ends;
} node;

struct graph {
    node nodes[NODES];
    vow_executor *serial[HANDLERS]; /* NULL: the pool */
    pthread_barrier_t gate;
    atomic_int refused;
    uint64_t chance;
};

static int choose(graph *self, int count) {
    self->chance ^= self->chance << 13;
    self->chance ^= self->chance >> 7;
    self->chance ^= self->chance << 17;
    return (int)(self->chance % (uint64_t)count);
}

static vow_value wait_in_graph(vow_value input, void *context) {
    node *own = context;
    (void)input;
    pthread_barrier_wait(&own->in->gate);
    int answer = vow_await(own->in->nodes[own->awaited].promise, VOW_FOREVER, NULL);
    CHECK(answer == VOW_FULFILLED || answer == VOW_EDEADLOCK);
    atomic_fetch_add(&own->in->refused, answer == VOW_EDEADLOCK);
    return vow_int(answer);
}

static vow_promise *combine(graph *self, node *combined) {
    vow_promise *members[3];
    size_t count = (size_t)combined->count;
    for (int i = 0; i < combined->count; i++) {
        int member = combined->members[i];
        /* What a handler's executor runs next waits for the handler. */
        bool is_behind = member < HANDLERS && self->serial[member] != NULL && choose(self, 2) == 0;
        members[i] = is_behind ? vow_async(self->serial[member], add_one, NULL)
                               : vow_promise_retain(self->nodes[member].promise);
    }
    if (combined->needs_each) {
        return choose(self, 2) == 0 ? vow_all(members, count) : vow_all_settled(members, count);
    }
    switch (choose(self, 3)) {
    case 0:
        return vow_any(members, count);
    case 1:
        return vow_race(members, count);
    default:
        return vow_some(members, count, 1);
    }
}

/* Who can end, beginning with those that somebody outside settles. */
static int those_that_end(graph *self) {
    int ends = 0;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int i = 0; i < NODES; i++) {
            node *at = &self->nodes[i];
            int ended = 0;
            for (int member = 0; member < at->count; member++) {
                ended += self->nodes[at->members[member]].ends;
            }
            bool can_end = i < HANDLERS             ? self->nodes[at->awaited].ends
                           : i < HANDLERS + OUTSIDE ? true
                           : at->needs_each         ? ended == at->count
                                                    : ended > 0;
            if (can_end && !at->ends) {
                at->ends = goes_on = true;
                ends++;
            }
        }
    }
    return ends;
}

static void plan(graph *self, bool has_outside) {
    for (int i = 0; i < NODES; i++) {
        node *at = &self->nodes[i];
        at->in = self;
        if (i < HANDLERS) {
            /* Mostly what was combined last. */
            at->awaited = choose(self, 4) == 0 ? choose(self, NODES) : NODES - 1 - choose(self, 4);
            self->serial[i] = choose(self, 2) == 0 ? vow_executor_serial("graph") : NULL;
        } else if (i >= HANDLERS + OUTSIDE) {
            at->count = 1 + choose(self, 3);
            at->needs_each = choose(self, 3) == 0;
            for (int member = 0; member < at->count; member++) {
                int chosen = choose(self, i);
                bool is_outside = chosen >= HANDLERS && chosen < HANDLERS + OUTSIDE;
                at->members[member] = is_outside && !has_outside ? choose(self, HANDLERS) : chosen;
            }
        }
        if (i < HANDLERS && !has_outside && at->awaited >= HANDLERS &&
            at->awaited < HANDLERS + OUTSIDE) {
            at->awaited = i;
        }
    }
}

/* False: it has gone wrong, for that chance. */
static bool check_graph(uint64_t chance, bool has_outside) {
    graph *self = calloc(1, sizeof *self);
    vow_resolver *resolvers[OUTSIDE];
    bool good = true;
    self->chance = chance * UINT64_C(0x9e3779b97f4a7c15) + 1;
    pthread_barrier_init(&self->gate, NULL, HANDLERS + 1);
    plan(self, has_outside);
    int ends = those_that_end(self);
    for (int i = 0; i < NODES; i++) {
        node *at = &self->nodes[i];
        vow_executor *executor = i < HANDLERS ? self->serial[i] : NULL;
        at->promise = i < HANDLERS ? vow_async(executor != NULL ? executor : vow_executor_pool(),
                                               wait_in_graph, at)
                      : i < HANDLERS + OUTSIDE ? vow_promise_create(&resolvers[i - HANDLERS])
                                               : combine(self, at);
    }
    pthread_barrier_wait(&self->gate);
    usleep((useconds_t)choose(self, 300));
    for (int i = 0; i < OUTSIDE; i++) {
        CHECK(vow_resolve(resolvers[i], vow_int(1)));
        vow_resolver_release(resolvers[i]);
    }
    for (int i = 0; i < NODES; i++) {
        good = CHECK_INT_EQ(code_of(vow_promise_retain(self->nodes[i].promise)), 0) && good;
    }
    for (int i = 0; i < NODES; i++) {
        vow_promise_release(self->nodes[i].promise);
    }
    int refused = atomic_load(&self->refused);
    good = CHECK(ends == NODES ? refused == 0 : refused > 0) && good;
    if (!good) {
        printf("# graph %" PRIu64 ", %d of %d end, %d refused\n", chance, ends, NODES, refused);
    }
    for (int i = 0; i < HANDLERS; i++) {
        vow_executor_release(self->serial[i]);
    }
    pthread_barrier_destroy(&self->gate);
    free(self);
    return good;
}

static void check_graphs(bool has_outside) {
    bool good = true;
    for (uint64_t chance = 1; good && chance <= 500; chance++) {
        good = check_graph(chance, has_outside);
    }
}

TEST("G11: of handlers that wait for any and all of each other some are refused if not all can "
     "end") {
    check_graphs(false);
}

TEST("G11: of those that wait for others too none is refused if all can end") {
    check_graphs(true);
}
