/* Tests what befalls workers of the pool and must not befall the pool: a handler that cancels its
 * thread, a child that ends the pool's work, and a worker that comes back from a wait when all
 * places are taken. */
#include "limited.h"

static vow_value say_none(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_none();
}

static vow_value cancel_thread(vow_value input, void *context) {
    (void)context;
    pthread_cancel(pthread_self());
    usleep(1);
    return vow_value_retain(input);
}

TEST("a handler's thread in the pool is not cancelled: others' handlers run there") {
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), cancel_thread, NULL)), 0);
}

/* In a child the stacks of the parent's workers are anybody's. */
#define STACK_PART (256 * 1024)

static atomic_int is_ready;
static atomic_bool may_look;

static void *watch_stack(void *context) {
    volatile char part[STACK_PART];
    memset((void *)(uintptr_t)part, 0, sizeof part);
    atomic_fetch_add(&is_ready, 1);
    while (!atomic_load(&may_look)) {
        sched_yield();
    }
    intptr_t changed = 0;
    for (size_t i = 0; i < sizeof part; i++) {
        changed += part[i] != 0;
    }
    (void)context;
    return (void *)changed;
}

TEST("vow_shutdown in a forked child touches nothing that the parent's workers had") {
    enum { COUNT = 4 };
    vow_promise *tasks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        tasks[i] = vow_async(vow_executor_pool(), say_none, NULL);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT_EQ(code_of(tasks[i]), 0);
    }
    /* Now they are idle. */
    usleep(20000);
    pid_t child = fork();
    if (child == 0) {
        pthread_t watching[COUNT];
        intptr_t changed = 0;
        alarm(CHILD_LIMIT);
        /* ThreadSanitizer starts no threads in such a child. */
        int count = is_limited() ? COUNT : 0;
        for (int i = 0; i < count; i++) {
            watching[i] = start_thread(watch_stack, NULL);
        }
        reaches(&is_ready, count);
        vow_shutdown(0);
        atomic_store(&may_look, true);
        for (int i = 0; i < count; i++) {
            void *found = NULL;
            pthread_join(watching[i], &found);
            changed += (intptr_t)found;
        }
        _exit(changed == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && CHECK_INT_EQ(WEXITSTATUS(status), 0));
}

static int ends[2];
static atomic_int back;
static int places;

static vow_value read_after_gate(vow_value input, void *gate) {
    char byte;
    (void)input;
    vow_await(gate, VOW_FOREVER, NULL);
    atomic_fetch_add(&back, 1);
    return vow_bool(read(ends[0], &byte, 1) == 1);
}

static vow_value return_after_readers(vow_value input, void *gate) {
    (void)input;
    vow_await(gate, VOW_FOREVER, NULL);
    CHECK(reaches(&back, places));
    usleep(50000);
    return vow_none();
}

static vow_value write_all(vow_value input, void *context) {
    static const char bytes[1024];
    (void)context;
    CHECK(write(ends[1], bytes, (size_t)places) == places);
    return vow_value_retain(input);
}

/* All places are taken by those that came back from a wait, and sleep; what wakes them becomes
 * ready on one more, which then finds no place for it. */
static void play_back(void) {
    vow_resolver *open;
    vow_promise *gate = vow_promise_create(&open);
    vow_promise *readers[256];
    places = (int)sysconf(_SC_NPROCESSORS_ONLN);
    places = places < 2 ? 2 : places > 256 ? 256 : places;
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *last = vow_async(vow_executor_pool(), return_after_readers, gate);
    for (int i = 0; i < places; i++) {
        readers[i] = vow_async(vow_executor_pool(), read_after_gate, gate);
    }
    last = then_on(vow_executor_pool(), last, write_all, NULL);
    usleep(100000);
    vow_resolve(open, vow_none());
    vow_resolver_release(open);
    CHECK_INT_EQ(code_of(last), 0);
    for (int i = 0; i < places; i++) {
        CHECK_INT_EQ(code_of(readers[i]), 0);
    }
    vow_promise_release(gate);
}

TEST("what a worker makes ready and has no place for is begun although all others sleep") {
    goes_well("back");
}

static const limited_scene scenes[] = {{"back", play_back}, {NULL, NULL}};

int main(int count, char **arguments) {
    return limited_main(count, arguments, scenes);
}
