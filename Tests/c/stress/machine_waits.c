/* Waits in handlers of the pool for what runs functions, while other work makes the waiters look
 * again and again at what they wait for: not one step may be lost.
 *
 * MACHINE_WAITS in the environment sets another number of waits. */
#include "stress.h"

#define ITEMS 30
#define AT_ONCE 4

static long waits(void) {
    return size_of_run("MACHINE_WAITS", 20000 / slowness());
}

static atomic_long lost;
static atomic_bool is_over;

/* Only this wait needs a limit: one that is lost would never end. */
static int64_t awaited_int(vow_promise *promise) {
    vow_value out = vow_none();
    if (vow_await(promise, LONG_ENOUGH, &out) != VOW_FULFILLED) {
        atomic_fetch_add(&lost, 1);
    }
    vow_promise_release(promise);
    int64_t found = out.kind == VOW_LIST ? (int64_t)vow_list_count(out) : out.as.integer;
    vow_value_release(out);
    return found;
}

static vow_value map_and_wait(vow_value input, void *context) {
    (void)input;
    (void)context;
    vow_value items[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        items[i] = vow_int(i);
    }
    return vow_int(awaited_int(vow_map(vow_list(items, ITEMS), add_one, NULL, AT_ONCE)));
}

static bool is_below_items(vow_value state, void *context) {
    (void)context;
    return state.as.integer < ITEMS;
}

static vow_value repeat_and_wait(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(awaited_int(vow_repeat(vow_int(0), is_below_items, add_one, NULL)));
}

/* Whoever waits in a handler is asked to look again for each piece of this. */
static void *disturb(void *context) {
    vow_executor *serial = context;
    while (!atomic_load(&is_over)) {
        vow_promise *work = vow_async(serial, add_one, NULL);
        vow_await(work, LONG_ENOUGH, NULL);
        vow_promise_release(work);
    }
    return NULL;
}

static void check_none_is_lost(vow_handler wait) {
    vow_executor *serial = vow_executor_serial("beside");
    vow_executor_set_default(vow_executor_pool());
    atomic_store(&is_over, false);
    pthread_t beside = start_thread(disturb, serial);
    for (long left = waits(); left > 0 && atomic_load(&lost) == 0; left -= AT_ONCE) {
        vow_promise *at_once[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            at_once[i] = vow_async(NULL, wait, NULL);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            CHECK_INT_EQ(int_of(at_once[i]), ITEMS);
        }
    }
    atomic_store(&is_over, true);
    pthread_join(beside, NULL);
    vow_executor_set_default(vow_executor_inline());
    vow_executor_release(serial);
    CHECK_INT_EQ(atomic_load(&lost), 0);
}

TEST("a wait in a handler of the pool for a map ends, whatever looks at the map meanwhile") {
    check_none_is_lost(map_and_wait);
}

TEST("so does one for a loop") {
    check_none_is_lost(repeat_and_wait);
}
