/* Tests a process that forks while many threads work: children and parent go on unharmed. */
#include "../c/worker.h"
#include <sys/wait.h>

#define FORKS 200
#define THREADS 4

/* The parent's threads work all the time, on every executor, with promises that they share. */
static atomic_bool stop;
static atomic_llong rounds;
static vow_executor *serial;
static vow_promise *common;

static void *work_on(void *context) {
    uintptr_t number = (uintptr_t)context;
    while (!atomic_load(&stop)) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        vow_executor *places[3] = {vow_executor_inline(), vow_executor_pool(), serial};
        promise = then_on(places[(number + 0) % 3], promise, add_one, NULL);
        promise = then_on(places[(number + 1) % 3], promise, add_one, NULL);
        vow_promise *branch =
            then_on(places[number % 3], vow_promise_retain(common), add_one, NULL);
        vow_resolve(resolver, vow_from_promise(fulfilled_int(1)));
        vow_resolver_release(resolver);
        CHECK_INT_EQ(int_of(branch), 8);
        CHECK_INT_EQ(int_of(promise), 3);
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

/* An executor that keeps its work until the program asks for it; it needs no thread. */
typedef struct basket {
    void (*run[8])(void *work);
    void *work[8];
    int count;
} basket;

static void basket_submit(void *context, void (*run)(void *work), void *work) {
    basket *self = context;
    self->run[self->count] = run;
    self->work[self->count] = work;
    self->count++;
}

static void child_uses_own_executor(void) {
    static const vow_executor_class basket_class = {sizeof(vow_executor_class), basket_submit, NULL,
                                                    NULL, VOW_SERIAL};
    basket all;
    memset(&all, 0, sizeof all);
    vow_executor *executor = vow_executor_custom(&basket_class, &all);
    vow_promise *promise = then_on(executor, fulfilled_int(3), add_one, NULL);
    promise = then_inline(promise, add_one, NULL);
    for (int i = 0; i < all.count; i++) {
        all.run[i](all.work[i]);
    }
    CHECK_INT_EQ(int_of(promise), 5);
    vow_executor_release(executor);
}

static void child_chains(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = then_inline(promise, add_one, NULL);
    promise = then_inline(promise, fail_with_7, NULL);
    promise = catch_inline(promise, give_code, NULL);
    CHECK(vow_resolve(resolver, vow_from_promise(fulfilled_int(1))));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 7);
    vow_value value = vow_string("a string of the child", VOW_NUL_TERMINATED);
    CHECK_INT_EQ(value.kind, VOW_STRING);
    CHECK_INT_EQ(code_of(vow_promise_with(vow_error_wrap("test", 4, "four", value))), 4);
}

static void child_asks_dispatch(void) {
    counter context = {0};
    vow_executor *late = vow_executor_serial("made in the child");
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_async(serial, counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_async(late, counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_then(fulfilled_int(1), counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    vow_executor_release(late);
}

/* The child says through a pipe how its checks went: its exit status may be that of a leak check,
 * to which all that only a thread of the parent referred to is lost. */
static bool fork_once(void) {
    int ends[2];
    char verdict = '-';
    int status = -1;
    if (pipe(ends) != 0) {
        return CHECK(!"a pipe");
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        vow_statistics before = harness_stats();
        child_chains();
        child_uses_own_executor();
        child_asks_dispatch();
        vow_statistics after = harness_stats();
        CHECK_INT_EQ(after.live, before.live);
        CHECK_INT_EQ(after.pending, before.pending);
        CHECK_INT_EQ(after.bytes, before.bytes);
        fflush(stdout);
        verdict = atomic_load(&harness_failures) == 0 ? 'y' : 'n';
        _exit(write(ends[1], &verdict, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    bool good = CHECK(child > 0 && waitpid(child, &status, 0) == child) && CHECK(WIFEXITED(status));
    good = CHECK(read(ends[0], &verdict, 1) == 1 && verdict == 'y') && good;
    close(ends[0]);
    return good;
}

TEST("200 forks in the middle of work: each child works on, and so does the parent") {
    pthread_t threads[THREADS];
    int forks = slowness() > 1 ? FORKS / 4 : FORKS;
    serial = vow_executor_serial("of the parent");
    common = fulfilled_int(7);
    atomic_store(&stop, false);
    for (uintptr_t i = 0; i < THREADS; i++) {
        threads[i] = start_thread(work_on, (void *)i);
    }
    for (int i = 0; i < forks; i++) {
        long long before = atomic_load(&rounds);
        if (!fork_once()) {
            printf("# fork %d of %d\n", i, forks);
            break;
        }
        /* Some thread of the parent gets on after each fork. */
        int64_t limit = now_ns() + LONG_ENOUGH;
        while (atomic_load(&rounds) == before && now_ns() < limit) {
            usleep(50);
        }
        CHECK(atomic_load(&rounds) > before);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vow_executor_release(serial);
    vow_promise_release(common);
}
