/* Tests vow_map. */
#include "map_tools.h"

enum { ITEMS = 100 };

typedef struct gauge {
    atomic_int under_way;
    atomic_int most;
    atomic_int begun;
    atomic_int failing; /* the item that fails; -1: none */
    vow_resolver *resolvers[ITEMS];
    _Atomic(vow_executor *) seen;
} gauge;

static vow_value doubled(vow_value input, void *context) {
    gauge *self = context;
    int now = atomic_fetch_add(&self->under_way, 1) + 1;
    int most = atomic_load(&self->most);
    while (now > most && !atomic_compare_exchange_weak(&self->most, &most, now)) {
    }
    atomic_fetch_add(&self->begun, 1);
    atomic_store(&self->seen, vow_executor_current());
    atomic_fetch_sub(&self->under_way, 1);
    if (input.as.integer == atomic_load(&self->failing)) {
        return vow_error("test", 3, "three");
    }
    return vow_int(2 * input.as.integer);
}

/* A promise that the test settles. */
static vow_value later(vow_value input, void *context) {
    gauge *self = context;
    atomic_fetch_add(&self->begun, 1);
    return vow_from_promise(vow_promise_create(&self->resolvers[input.as.integer]));
}

static void expect_doubled(vow_promise *promise, size_t count) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_INT_EQ(vow_list_count(out), count);
    for (size_t i = 0; i < count; i++) {
        if (vow_list_at(out, i).as.integer != 2 * (int64_t)i) {
            CHECK_INT_EQ(vow_list_at(out, i).as.integer, 2 * i);
            break;
        }
    }
    vow_value_release(out);
    vow_promise_release(promise);
}

TEST("vow_map gives the results in the order of the items") {
    static gauge self = {.failing = -1};
    for (size_t bound = 0; bound < 5; bound++) {
        expect_doubled(vow_map(numbers(ITEMS), doubled, &self, bound), ITEMS);
        if (bound > 0) {
            CHECK(atomic_load(&self.most) <= (int)bound);
        }
        atomic_store(&self.most, 0);
    }
    CHECK_INT_EQ(atomic_load(&self.begun), 5 * ITEMS);
    expect_doubled(vow_map(numbers(0), doubled, &self, 3), 0);
    expect_doubled(vow_map(numbers(3), doubled, &self, SIZE_MAX), 3);
}

TEST("vow_map has no more under way than its bound, and begins in order") {
    vow_executor_set_default(vow_executor_inline());
    static gauge self = {.failing = -1};
    vow_promise *map = vow_map(numbers(10), later, &self, 3);
    CHECK_INT_EQ(atomic_load(&self.begun), 3);
    for (int i = 0; i < 10; i++) {
        int place = i == 0 ? 1 : i == 1 ? 0 : i;
        CHECK(self.resolvers[place] != NULL);
        vow_resolve(self.resolvers[place], vow_int(2 * place));
        vow_resolver_release(self.resolvers[place]);
        CHECK_INT_EQ(atomic_load(&self.begun), i + 4 < 10 ? i + 4 : 10);
    }
    expect_doubled(map, 10);
    vow_executor_set_default(NULL);
}

TEST("vow_map rejects with the place, begins nothing more, and cancels what is under way") {
    vow_executor_set_default(vow_executor_inline());
    static gauge self = {.failing = -1};
    atomic_int stopped = 0;
    vow_promise *map = vow_map(numbers(10), later, &self, 4);
    for (int i = 0; i < 4; i++) {
        CHECK_INT_EQ(vow_resolver_on_cancel(self.resolvers[i], note_stop, &stopped, NULL), 0);
    }
    vow_reject(self.resolvers[2], vow_error("test", 9, "nine"));
    CHECK_INT_EQ(atomic_load(&stopped), 3);
    CHECK_INT_EQ(atomic_load(&self.begun), 4);
    vow_value out = vow_none();
    CHECK(vow_promise_peek(map, &out));
    CHECK_INT_EQ(vow_error_code(out), 9);
    CHECK_INT_EQ(vow_error_index(out), 2);
    vow_promise_release(map);
    for (int i = 0; i < 4; i++) {
        vow_resolver_release(self.resolvers[i]);
    }
    vow_executor_set_default(NULL);
}

TEST("a cancelled vow_map cancels what is under way; one that is released goes on") {
    vow_executor_set_default(vow_executor_inline());
    for (int released = 0; released < 2; released++) {
        gauge self = {.failing = -1};
        atomic_int stopped = 0;
        vow_promise *map = vow_map(numbers(3), later, &self, 2);
        for (int i = 0; i < 2; i++) {
            CHECK_INT_EQ(vow_resolver_on_cancel(self.resolvers[i], note_stop, &stopped, NULL), 0);
        }
        if (!released) {
            CHECK(vow_cancel(map));
            CHECK_INT_EQ(vow_promise_state(map), VOW_REJECTED);
        }
        vow_promise_release(map);
        CHECK_INT_EQ(atomic_load(&stopped), released ? 0 : 2);
        for (int i = 0; i < 2; i++) {
            vow_resolve(self.resolvers[i], vow_int(1));
            vow_resolver_release(self.resolvers[i]);
        }
        CHECK_INT_EQ(atomic_load(&self.begun), released ? 3 : 2);
        if (released) {
            vow_resolve(self.resolvers[2], vow_int(1));
            vow_resolver_release(self.resolvers[2]);
        }
    }
    vow_executor_set_default(NULL);
}

static vow_value map_here(vow_value input, void *context) {
    (void)input;
    vow_context_set(vow_int(77));
    return vow_from_promise(vow_map(numbers(20), doubled, context, 3));
}

static vow_value context_is_77(vow_value input, void *context) {
    (void)input;
    if (vow_context_get().as.integer == 77) {
        atomic_fetch_add((atomic_int *)context, 1);
    }
    return vow_none();
}

TEST("the functions run on the executor of the place that they were given at, with its context") {
    vow_executor *serial = vow_executor_serial("map");
    static gauge self = {.failing = -1};
    vow_promise *map = vow_async(serial, map_here, &self);
    expect_doubled(map, 20);
    CHECK(self.seen == serial);
    CHECK_INT_EQ(atomic_load(&self.most), 1);
    atomic_int seen = 0;
    vow_context_set(vow_int(77));
    map = vow_map(numbers(20), context_is_77, &seen, 3);
    vow_context_set(vow_none());
    CHECK_INT_EQ(code_of(map), 0);
    CHECK_INT_EQ(atomic_load(&seen), 20);
    vow_executor_release(serial);
}

static vow_value wait_for_map(vow_value input, void *context) {
    vow_value out = vow_none();
    vow_promise *promises[2];
    for (int i = 0; i < 2; i++) {
        promises[i] = vow_map(numbers(5), doubled, context, 2);
    }
    vow_promise *all = vow_timeout(vow_all(promises, 2), 60 * SECOND);
    int state = vow_await(all, VOW_FOREVER, &out);
    size_t count = vow_list_count(out);
    vow_value_release(out);
    vow_promise_release(all);
    (void)input;
    return state == (int)VOW_FULFILLED ? vow_int((int64_t)count) : vow_error("test", state, "");
}

TEST("a handler may wait for a map and a combined promise, on the pool and inline") {
    static gauge self = {.failing = -1};
    for (int round = 0; round < 20; round++) {
        CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), wait_for_map, &self)), 2);
        CHECK_INT_EQ(int_of(vow_async(vow_executor_inline(), wait_for_map, &self)), 2);
    }
}

static void *map_many(void *context) {
    vow_executor_set_default(vow_executor_inline());
    static gauge self = {.failing = -1};
    expect_doubled(vow_map(numbers(200000), doubled, &self, 8), 200000);
    vow_executor_set_default(NULL);
    (void)context;
    return NULL;
}

TEST("a long map of a plain function on the inline executor needs constant stack") {
    on_small_stack(map_many, NULL);
}

TEST("vow_map on the pool, failing in the middle, often") {
    static gauge all[300];
    for (int round = 0; round < 300; round++) {
        vow_statistics before = harness_stats();
        gauge *self = &all[round];
        atomic_store(&self->failing, round % 50);
        vow_promise *map = vow_map(numbers(50), doubled, self, (size_t)(round % 9));
        if (round % 3 == 0) {
            vow_cancel(map);
            vow_promise_peek(map, &(vow_value){0});
            vow_promise_release(map);
        } else {
            CHECK_INT_EQ(code_of(map), 3);
        }
        /* Handlers that run still use `self`. */
        harness_gate(&before);
    }
}

/* Not literals, which compilers that know better refuse. */
static vow_promise *no_promise;
static vow_handler no_handler;
static vow_reducer no_reducer;
static bool (*no_question)(vow_value, void *);

TEST("wrong arguments of map, reduce, repeat and catch_if") {
    CHECK_INT_EQ(code_of(vow_map(vow_int(1), doubled, NULL, 1)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_map(numbers(2), no_handler, NULL, 1)), VOW_EINVAL);
    vow_promise *promises[2] = {fulfilled_int(1), NULL};
    CHECK_INT_EQ(code_of(vow_reduce(promises, 2, numbers(1), no_reducer, NULL)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_reduce(NULL, 2, numbers(1), no_reducer, NULL)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_repeat(numbers(1), no_question, doubled, NULL)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_catch_if(fulfilled_int(1), "test", 1, no_handler, NULL)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_catch_if(no_promise, "test", 1, give_code, NULL)), VOW_EINVAL);
}

static void scenes(void) {
    int64_t limit = 5;
    vow_promise *promises[3] = {fulfilled_int(2), fulfilled_int(3), fulfilled_int(4)};
    vow_promise *made[4] = {
        vow_map(numbers(5), doubled, &(gauge){.failing = -1}, 2),
        vow_reduce(promises, 3, vow_string("start", 5), append_digit, NULL),
        vow_repeat(vow_int(0), below_limit, promised_next, &limit),
        vow_catch_if(rejected_code(7), "test", 7, give_code, NULL),
    };
    for (int i = 0; i < 4; i++) {
        CHECK(vow_promise_state(made[i]) != VOW_PENDING);
        vow_promise_peek(made[i], &(vow_value){0});
        vow_promise_release(made[i]);
    }
}

TEST("without memory the promise is rejected and nothing is lost") {
    vow_executor_set_default(vow_executor_inline());
    for (int nth = 1;; nth++) {
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, nth);
        scenes();
        atomic_store(&counts.countdown, 0);
        if (atomic_load(&counts.failed) == 0) {
            break;
        }
    }
    vow_executor_set_default(NULL);
}
