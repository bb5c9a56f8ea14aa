/* Tests handlers that do not give their thread back for long: those that sleep in the system hold
 * up nobody, and those that compute hold up none of the other kind. */
#include "../c/tools.h"

/* So many are made up for, as the header says. */
#define SLEEPERS 256
#define SOME 40

static int ends[2];

static vow_value read_one(vow_value input, void *context) {
    char byte;
    (void)input;
    (void)context;
    return vow_bool(read(ends[0], &byte, 1) == 1);
}

static vow_value write_all(vow_value input, void *count) {
    static const char bytes[SLEEPERS];
    ssize_t all = *(int *)count;
    (void)input;
    return vow_bool(write(ends[1], bytes, (size_t)all) == all);
}

/* Each of the executors has one handler that reads, and then one more executor has the one that
 * writes. */
static void read_on(vow_executor *(*executor)(void), int count) {
    vow_promise *readers[SLEEPERS];
    CHECK_INT_EQ(pipe(ends), 0);
    for (int i = 0; i < count; i++) {
        vow_executor *mine = executor();
        readers[i] = vow_async(mine, read_one, NULL);
        vow_executor_release(mine);
    }
    vow_executor *last = executor();
    CHECK_INT_EQ(code_of(vow_async(last, write_all, &count)), 0);
    vow_executor_release(last);
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(code_of(readers[i]), 0);
    }
    close(ends[0]);
    close(ends[1]);
}

TEST("pool handlers that sleep in a system call, up to 256, do not hold up the one that wakes "
     "them") {
    read_on(vow_executor_pool, many_of(SOME, SLEEPERS));
}

static vow_executor *own_serial(void) {
    return vow_executor_serial(NULL);
}

TEST("40 serial executors whose handlers sleep do not hold up the one that wakes them") {
    read_on(own_serial, SOME);
}

static atomic_bool goes_on;

static vow_value spin(vow_value input, void *context) {
    (void)context;
    while (!atomic_load(&goes_on)) {
        sched_yield();
    }
    return vow_value_retain(input);
}

static vow_value let_go(vow_value input, void *context) {
    (void)context;
    atomic_store(&goes_on, true);
    return vow_value_retain(input);
}

/* More than there are processors. */
#define SPINNING 100

TEST("pool handlers that compute do not hold up a serial executor") {
    vow_promise *spinning[SPINNING];
    vow_executor *serial = vow_executor_serial("beside the pool");
    atomic_store(&goes_on, false);
    for (int i = 0; i < SPINNING; i++) {
        spinning[i] = vow_async(vow_executor_pool(), spin, NULL);
    }
    CHECK_INT_EQ(code_of(vow_async(serial, let_go, NULL)), 0);
    for (int i = 0; i < SPINNING; i++) {
        CHECK_INT_EQ(code_of(spinning[i]), 0);
    }
    vow_executor_release(serial);
}

TEST("serial executors whose handlers compute do not hold up the pool") {
    vow_promise *spinning[SPINNING];
    atomic_store(&goes_on, false);
    for (int i = 0; i < SPINNING; i++) {
        vow_executor *serial = vow_executor_serial("busy");
        spinning[i] = vow_async(serial, spin, NULL);
        vow_executor_release(serial);
    }
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), let_go, NULL)), 0);
    for (int i = 0; i < SPINNING; i++) {
        CHECK_INT_EQ(code_of(spinning[i]), 0);
    }
}
