/* G11 through combinators: a wait for many promises is refused if and only if it cannot end. */
#include "worker.h"

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
