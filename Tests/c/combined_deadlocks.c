/* G11 through combinators: a wait for many promises is refused if and only if it cannot end. */
#include "worker.h"

typedef struct waiting {
    vow_executor *serial;
    vow_promise *(*combine)(vow_promise *const *promises, size_t count);
    vow_promise *other; /* NULL: one more on the executor */
} waiting;

/* Waits, in a handler of the executor, for work that must run there and for something else. */
static vow_value wait_for_both(vow_value input, void *context) {
    waiting *self = context;
    vow_promise *members[2];
    (void)input;
    members[0] = vow_async(self->serial, add_one, NULL);
    members[1] = self->other != NULL ? vow_promise_retain(self->other)
                                     : vow_async(self->serial, add_one, NULL);
    vow_promise *both = self->combine(members, 2);
    int answer = vow_await(both, LONG_ENOUGH, NULL);
    vow_promise_release(both);
    return vow_int(answer);
}

static int64_t answer_of(vow_promise *(*combine)(vow_promise *const *promises, size_t count),
                         vow_promise *other) {
    waiting self = {vow_executor_serial("both"), combine, other};
    int64_t answer = int_of(then_on(self.serial, fulfilled_int(1), wait_for_both, &self));
    vow_executor_release(self.serial);
    return answer;
}

TEST("G11: all and all_settled cannot end when one member cannot") {
    vow_resolver *resolver;
    vow_promise *pending = vow_promise_create(&resolver);
    vow_promise *settled = fulfilled_int(1);
    CHECK_INT_EQ(answer_of(vow_all, pending), VOW_EDEADLOCK);
    CHECK_INT_EQ(answer_of(vow_all, settled), VOW_EDEADLOCK);
    CHECK_INT_EQ(answer_of(vow_all, NULL), VOW_EDEADLOCK);
    CHECK_INT_EQ(answer_of(vow_all_settled, pending), VOW_EDEADLOCK);
    vow_promise_release(settled);
    vow_promise_release(pending);
    vow_resolver_release(resolver);
}

static vow_value soon(vow_value input, void *context) {
    (void)context;
    usleep(30000);
    return vow_value_retain(input);
}

TEST("G11: race and any cannot end only when no member can") {
    vow_promise *later = then_on(vow_executor_pool(), fulfilled_int(1), soon, NULL);
    CHECK_INT_EQ(answer_of(vow_race, NULL), VOW_EDEADLOCK);
    CHECK_INT_EQ(answer_of(vow_any, NULL), VOW_EDEADLOCK);
    CHECK_INT_EQ(answer_of(vow_race, later), VOW_FULFILLED);
    vow_promise_release(later);
    later = then_on(vow_executor_pool(), fulfilled_int(1), soon, NULL);
    CHECK_INT_EQ(answer_of(vow_any, later), VOW_FULFILLED);
    vow_promise_release(later);
}

static vow_promise *nested(vow_promise *const *promises, size_t count) {
    vow_promise *inner = vow_all(promises, count);
    vow_promise *outer = vow_race(&inner, 1);
    return vow_all(&outer, 1);
}

TEST("G11: combinators of combinators are looked through") {
    CHECK_INT_EQ(answer_of(nested, NULL), VOW_EDEADLOCK);
}

static vow_value wait_for_map(vow_value input, void *context) {
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    vow_promise *mapped = vow_map(vow_list(items, 3), add_one, NULL, 2);
    (void)input;
    (void)context;
    int answer = vow_await(mapped, LONG_ENOUGH, NULL);
    vow_promise_release(mapped);
    return vow_int(answer);
}

TEST("G11: a map that must run where its caller waits is refused; on the pool it is run") {
    vow_executor *serial = vow_executor_serial("map");
    CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), wait_for_map, NULL)), VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), wait_for_map, NULL)),
                 VOW_FULFILLED);
    vow_executor_release(serial);
}

enum { WIDE = 4, DEEP = 40 };

static vow_value count_list(vow_value list, void *context) {
    (void)context;
    return vow_int((int64_t)vow_list_count(list));
}

/* Each layer's tasks wait for all of the layer before; the first ones are the caller's. */
static vow_promise *layers_over(vow_promise *const first[WIDE], vow_executor *executor) {
    vow_promise *layer[WIDE], *next[WIDE];
    memcpy(layer, first, sizeof layer);
    for (int i = 0; i < DEEP; i++) {
        for (int task = 0; task < WIDE; task++) {
            for (int member = 0; member < WIDE; member++) {
                vow_promise_retain(layer[member]);
            }
            next[task] = then_on(executor, vow_all(layer, WIDE), count_list, NULL);
        }
        for (int member = 0; member < WIDE; member++) {
            vow_promise_release(layer[member]);
        }
        memcpy(layer, next, sizeof layer);
    }
    return vow_all(layer, WIDE);
}

typedef struct graph {
    vow_executor *serial;
    bool is_on_pool;
} graph;

/* The last of the first layer must run where this waits, or is ready in the pool. */
static vow_value wait_for_layers(vow_value input, void *context) {
    graph *self = context;
    vow_promise *first[WIDE];
    (void)input;
    for (int i = 0; i < WIDE; i++) {
        first[i] = vow_async(self->is_on_pool ? vow_executor_pool() : self->serial, add_one, NULL);
    }
    vow_promise *all = layers_over(first, vow_executor_inline());
    int answer = vow_await(all, VOW_FOREVER, NULL);
    vow_promise_release(all);
    return vow_int(answer);
}

TEST("G11: a graph of tasks in 40 layers, 4 wide, is looked through once, to its ground") {
    graph self = {vow_executor_serial("layers"), false};
    CHECK_INT_EQ(int_of(then_on(self.serial, fulfilled_int(1), wait_for_layers, &self)),
                 VOW_EDEADLOCK);
    self.is_on_pool = true;
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), wait_for_layers, &self)),
                 VOW_FULFILLED);
    vow_executor_release(self.serial);
}
