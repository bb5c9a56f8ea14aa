/* Tests what is handed to a dispatch queue of the program's at a limit of the system: it is
 * libdispatch's, which waits until it gets what it lacks. */
#include "../c/dispatch.h"
#include "limited.h"

#define SOON (200 * MILLISECOND)

static atomic_bool is_short;

/* Made before the limit; lifts it. */
static void *lift_soon(void *context) {
    while (!atomic_load(&is_short)) {
        usleep(1000);
    }
    usleep(SOON / 1000);
    lift_limit();
    atomic_store(&is_short, false);
    return context;
}

static vow_value tell_when(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_bool(!atomic_load(&is_short));
}

/* The first work of a concurrent queue needs a thread. */
static void play_no_thread(void) {
    vow_value out = vow_none();
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, 0);
    pthread_t lifter = start_thread(lift_soon, NULL);
    limit_space(INT64_C(1) << 20);
    atomic_store(&is_short, true);
    vow_promise *promise = vow_async(executor, tell_when, NULL);
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(out.as.boolean || !is_limited());
    pthread_join(lifter, NULL);
    vow_promise_release(promise);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("work for a dispatch queue waits until the system gives a thread") {
    goes_well("no thread");
}

static piece *taken;

static void *give_back_soon(void *context) {
    while (!atomic_load(&is_short)) {
        usleep(1000);
    }
    usleep(SOON / 1000);
    atomic_store(&is_short, false);
    give_all_back(taken);
    return context;
}

static void play_no_memory(void) {
    vow_value out = vow_none();
    void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
    vow_executor *executor = vow_executor_dispatch(queue, 0);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = then_on(executor, promise, tell_when, NULL);
    pthread_t giver = start_thread(give_back_soon, NULL);
    taken = take_all();
    atomic_store(&is_short, true);
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(out.as.boolean || !is_limited());
    pthread_join(giver, NULL);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("and until malloc has memory") {
    goes_well("no memory");
}

static const limited_scene scenes[] = {
    {"no thread", play_no_thread}, {"no memory", play_no_memory}, {NULL, NULL}};

int main(int count, char **arguments) {
    return limited_main(count, arguments, scenes);
}
