/* Tests the pool where the system gives few threads, or none: nothing hangs, and what cannot be is
 * refused. */
#include "limited.h"

/* As many as there are threads to be had, and some more. */
#define CHAIN 300
#define MOST 20000

static vow_promise *given[CHAIN + 1];
static vow_resolver *givers[CHAIN + 1];

/* Waits for what the next one resolves by hand, so that nobody can run that inside the wait. */
static vow_value wait_for_next(vow_value input, void *context) {
    int number = (int)(intptr_t)context;
    (void)input;
    waits_or_is_refused(given[number + 1]);
    CHECK(vow_resolve(givers[number], vow_none()));
    vow_resolver_release(givers[number]);
    return vow_none();
}

/* With 2 GB of addresses, and 8 MiB for each stack. */
static void play_chain(void) {
    vow_promise *tasks[CHAIN];
    limit_space(INT64_C(2000) << 20);
    for (int i = 0; i <= CHAIN; i++) {
        given[i] = vow_promise_create(&givers[i]);
    }
    for (int i = 0; i < CHAIN; i++) {
        tasks[i] = vow_async(vow_executor_pool(), wait_for_next, (void *)(intptr_t)i);
    }
    usleep(300000);
    vow_resolve(givers[CHAIN], vow_none());
    vow_resolver_release(givers[CHAIN]);
    for (int i = 0; i < CHAIN; i++) {
        CHECK_INT_EQ(code_of(tasks[i]), 0);
    }
    for (int i = 0; i <= CHAIN; i++) {
        vow_promise_release(given[i]);
    }
    CHECK(atomic_load(&refused) > 0 || !is_limited());
}

TEST("G11: 300 handlers that wait for each other in 2 GB of addresses all end") {
    goes_well("chain");
}

static atomic_int begun;

static vow_value wait_at_gate(vow_value input, void *gate) {
    (void)input;
    atomic_fetch_add(&begun, 1);
    return vow_bool(waits_or_is_refused(gate));
}

static void play_crowd(void) {
    static vow_promise *tasks[MOST];
    int count = slowness() > 1 ? 500 : MOST;
    vow_resolver *open;
    vow_promise *gate = vow_promise_create(&open);
    for (int i = 0; i < count; i++) {
        tasks[i] = vow_async(vow_executor_pool(), wait_at_gate, gate);
    }
    CHECK(reaches(&begun, count));
    CHECK(of_status("Threads") < 2048 + 64);
    CHECK((atomic_load(&refused) > 0) == (count == MOST));
    vow_resolve(open, vow_none());
    vow_resolver_release(open);
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(code_of(tasks[i]), 0);
    }
    vow_promise_release(gate);
}

TEST("G11: of 20,000 handlers that wait at a gate so many are refused that threads stay bounded") {
    goes_well("crowd");
}

static void expect_refused(vow_promise *promise) {
    CHECK_INT_EQ(code_of(promise), is_limited() ? VOW_ENOMEM : 0);
}

static vow_value say_none(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_none();
}

static void play_no_thread(void) {
    limit_space(INT64_C(1) << 20);
    vow_executor *serial = vow_executor_serial(NULL);
    counter mine = {0};
    expect_refused(vow_async(vow_executor_pool(), say_none, NULL));
    expect_refused(vow_delay(MILLISECOND));
    expect_refused(vow_async(serial, say_none, NULL));
    expect_refused(vow_then(vow_promise_with(vow_none()), say_none, NULL));
    expect_refused(
        link_full(serial, vow_promise_with(vow_none()), say_none, NULL, &mine, counter_end));
    CHECK_INT_EQ(atomic_load(&mine.ends), 1);
    lift_limit();
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), say_none, NULL)), 0);
    CHECK_INT_EQ(code_of(vow_async(serial, say_none, NULL)), 0);
    CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
    vow_executor_release(serial);
}

TEST("work for the pool is rejected with VOW_ENOMEM where the system gives no thread at all") {
    goes_well("no thread");
}

/* As soon as one of these has been used, there are threads for all of them. */
static void use_all_without_more(void) {
    vow_executor *serial;
    limit_space(INT64_C(1) << 20);
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), say_none, NULL)), 0);
    serial = vow_executor_serial(NULL);
    CHECK_INT_EQ(code_of(vow_async(serial, say_none, NULL)), 0);
    CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
    vow_executor_release(serial);
}

static void play_pool_first(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *link = then_on(vow_executor_pool(), promise, say_none, NULL);
    use_all_without_more();
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(link), 0);
}

static void play_serial_first(void) {
    vow_executor *serial = vow_executor_serial(NULL);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *link = then_on(serial, promise, say_none, NULL);
    use_all_without_more();
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(link), 0);
    vow_executor_release(serial);
}

static void play_timer_first(void) {
    vow_promise *delay = vow_delay(MILLISECOND);
    use_all_without_more();
    CHECK_INT_EQ(code_of(delay), 0);
}

TEST("the first threads are there as soon as the pool, a serial executor or a timer is used") {
    goes_well("pool first");
    goes_well("serial first");
    goes_well("timer first");
}

static const limited_scene scenes[] = {{"chain", play_chain},
                                       {"crowd", play_crowd},
                                       {"no thread", play_no_thread},
                                       {"pool first", play_pool_first},
                                       {"serial first", play_serial_first},
                                       {"timer first", play_timer_first},
                                       {NULL, NULL}};

int main(int count, char **arguments) {
    return limited_main(count, arguments, scenes);
}
