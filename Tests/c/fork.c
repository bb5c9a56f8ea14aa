/* Tests a forked child: inline and custom executors go on, libdispatch's answer VOW_EFORKED. */
#include "child.h"

static void child_inline(void *unused) {
    (void)unused;
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = then_inline(promise, add_one, NULL);
    promise = then_inline(promise, fail_with_7, NULL);
    promise = catch_inline(promise, give_code, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 7);
}

TEST("a forked child goes on with inline chains") {
    in_child(child_inline, NULL);
}

static void child_pool(void *unused) {
    (void)unused;
    counter context = {0};
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_then(fulfilled_int(1), counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(code_of(then_on(vow_executor_main(), fulfilled_int(1), counter_run, &context)),
                 VOW_EFORKED);
    CHECK_INT_EQ(code_of(link_full(vow_executor_pool(), fulfilled_int(1), counter_run, NULL,
                                   &context, counter_end)),
                 VOW_EFORKED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
}

TEST("a forked child's work for the pool is rejected with VOW_EFORKED") {
    in_child(child_pool, NULL);
}

static vow_executor *inherited;

static void child_serial(void *unused) {
    (void)unused;
    counter context = {0};
    CHECK_INT_EQ(code_of(vow_async(inherited, counter_run, &context)), VOW_EFORKED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
}

TEST("a forked child's work for a serial executor of the parent is rejected with VOW_EFORKED") {
    inherited = vow_executor_serial("inherited");
    CHECK_INT_EQ(int_of(vow_async(inherited, add_one, NULL)), 1);
    in_child(child_serial, NULL);
    CHECK_INT_EQ(int_of(vow_async(inherited, add_one, NULL)), 1);
    vow_executor_release(inherited);
}

static vow_promise *before;
static vow_resolver *before_resolver;

static void child_registered_before(void *unused) {
    (void)unused;
    CHECK(vow_resolve(before_resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(before), VOW_EFORKED);
}

TEST("a reaction for the pool from before the fork is rejected with VOW_EFORKED in the child") {
    before = vow_promise_create(&before_resolver);
    before = then_on(vow_executor_pool(), before, add_one, NULL);
    in_child(child_registered_before, NULL);
    CHECK(vow_resolve(before_resolver, vow_int(1)));
    vow_resolver_release(before_resolver);
    CHECK_INT_EQ(int_of(before), 2);
}

static atomic_int may_end;
static counter begun;
static vow_promise *left_with_parent;

static vow_value run_until_told(vow_value input, void *context) {
    counter_run(input, context);
    reaches(&may_end, 1);
    return vow_int(5);
}

static void child_awaits_parent(void *unused) {
    (void)unused;
    vow_value out = vow_int(1);
    CHECK_INT_EQ(vow_await(left_with_parent, VOW_FOREVER, &out), VOW_EFORKED);
    CHECK_INT_EQ(out.kind, VOW_NONE);
}

static void await_left(vow_executor *executor) {
    atomic_store(&may_end, 0);
    memset(&begun, 0, sizeof begun);
    left_with_parent = vow_async(executor, run_until_told, &begun);
    CHECK(reaches(&begun.runs, 1));
    in_child(child_awaits_parent, NULL);
    atomic_store(&may_end, 1);
    CHECK_INT_EQ(int_of(left_with_parent), 5);
}

TEST("a forked child that waits for work left with the parent gets VOW_EFORKED") {
    vow_executor *serial = vow_executor_serial("left");
    await_left(vow_executor_pool());
    await_left(serial);
    vow_executor_release(serial);
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

static void child_custom(void *unused) {
    (void)unused;
    static const vow_executor_class basket_class = {sizeof(vow_executor_class), basket_submit, NULL,
                                                    NULL, VOW_SERIAL};
    basket all = {0};
    counter context = {0};
    vow_executor *executor = vow_executor_custom(&basket_class, &all);
    vow_promise *promise = then_on(executor, fulfilled_int(3), counter_run, &context);
    CHECK_INT_EQ(vow_await(promise, 0, NULL), VOW_PENDING);
    for (int i = 0; i < all.count; i++) {
        all.run[i](all.work[i]);
    }
    CHECK_INT_EQ(int_of(promise), 3);
    CHECK_INT_EQ(atomic_load(&context.runs), 1);
    vow_executor_release(executor);
}

TEST("a forked child goes on with executors of the program") {
    in_child(child_custom, NULL);
}

static void grandchild(void *unused) {
    (void)unused;
    child_inline(NULL);
    child_pool(NULL);
}

static void child_forks(void *unused) {
    (void)unused;
    fork_part(grandchild, NULL);
}

TEST("a child of a forked child does as its parent does") {
    in_child(child_forks, NULL);
}

/* A thread of the parent that waits, and the promise on which the child goes on without it. */
static vow_promise *watched;
static vow_resolver *watched_resolver;
static counter behind; /* a link that stands behind the waiter */
static counter last;
static atomic_int waiter_begun;

static void *wait_for_watched(void *context) {
    (void)context;
    atomic_store(&waiter_begun, 1);
    CHECK_INT_EQ(vow_await(watched, LONG_ENOUGH, NULL), VOW_FULFILLED);
    return NULL;
}

/* Writes over what the stack of the waiting thread held: the child gives it to the next thread. */
static void *fill_stack(void *context) {
    volatile char bytes[200000];
    (void)context;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 0x41;
    }
    return NULL;
}

static void check_resolves_watched(void *unused) {
    (void)unused;
    CHECK(vow_resolve(watched_resolver, vow_int(6)));
    CHECK_INT_EQ(vow_promise_state(watched), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&behind.runs), 1);
    CHECK_INT_EQ(int_of(then_inline(vow_promise_retain(watched), counter_run, &last)), 6);
}

/* ThreadSanitizer allows a child of a process with threads no new ones. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_HAS_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_HAS_THREADS 0
#endif
#endif
#ifndef CHILD_HAS_THREADS
#define CHILD_HAS_THREADS 1
#endif

static void check_resolves_after_thread(void *unused) {
    (void)unused;
    if (CHILD_HAS_THREADS) {
        pthread_join(start_thread(fill_stack, NULL), NULL);
    }
    check_resolves_watched(NULL);
}

static void with_waiter(void (*part)(void *)) {
    memset(&behind, 0, sizeof behind);
    atomic_store(&waiter_begun, 0);
    watched = vow_promise_create(&watched_resolver);
    pthread_t thread = start_thread(wait_for_watched, NULL);
    CHECK(reaches(&waiter_begun, 1));
    usleep(50000);
    vow_promise_release(then_inline(vow_promise_retain(watched), counter_run, &behind));
    fork_part(part, NULL);
    CHECK_INT_EQ(vow_promise_state(watched), VOW_PENDING);
    CHECK(vow_resolve(watched_resolver, vow_int(5)));
    vow_resolver_release(watched_resolver);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(int_of(watched), 5);
    CHECK_INT_EQ(atomic_load(&behind.runs), 1);
}

TEST("a forked child can settle a promise for which a thread of the parent was waiting") {
    with_waiter(check_resolves_watched);
}

TEST("so it can when another thread has used that thread's stack since") {
    with_waiter(check_resolves_after_thread);
}

/* A serial executor, one of whose handlers forks, with two more behind it. */
static pid_t parent;
static int to_parent[2];
static atomic_int all_queued;
static pid_t serial_child;
static counter queued;

/* What the child says: how many handlers ran in it, and with which code the last promise ended. */
typedef struct report {
    int runs;
    int ends;
    int64_t code;
} report;

static vow_value fork_in_handler(vow_value input, void *context) {
    (void)context;
    CHECK(reaches(&all_queued, 1));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
    } else {
        serial_child = child;
    }
    return vow_value_retain(input);
}

static vow_value report_in_child(vow_value input, void *context) {
    (void)context;
    if (getpid() != parent) {
        report said = {atomic_load(&queued.runs), atomic_load(&queued.ends), 0};
        said.code = input.kind == VOW_ERROR ? vow_error_code(input) : 0;
        _exit(write(to_parent[1], &said, sizeof said) == (ssize_t)sizeof said ? 0 : 1);
    }
    return vow_value_retain(input);
}

TEST("what is queued behind a serial handler that forks is rejected in the child") {
    report said = {-1, -1, 0};
    int status = -1;
    if (!CHECK_INT_EQ(pipe(to_parent), 0)) {
        return;
    }
    parent = getpid();
    vow_executor *serial = vow_executor_serial("forks");
    vow_promise *first = vow_async(serial, fork_in_handler, NULL);
    vow_promise *second =
        link_full(serial, fulfilled_int(2), counter_run, NULL, &queued, counter_end);
    vow_promise *third =
        link_full(serial, fulfilled_int(3), counter_run, NULL, &queued, counter_end);
    third = either_on(vow_executor_inline(), third, report_in_child, NULL);
    atomic_store(&all_queued, 1);
    CHECK_INT_EQ(code_of(first), 0);
    CHECK_INT_EQ(int_of(second), 2);
    CHECK_INT_EQ(int_of(third), 3);
    CHECK_INT_EQ(atomic_load(&queued.runs), 2);
    close(to_parent[1]);
    CHECK(read(to_parent[0], &said, sizeof said) == (ssize_t)sizeof said);
    CHECK_INT_EQ(said.runs, 0);
    CHECK_INT_EQ(said.ends, 2);
    CHECK_INT_EQ(said.code, VOW_EFORKED);
    CHECK(waitpid(serial_child, &status, 0) == serial_child);
    CHECK(WIFEXITED(status));
    close(to_parent[0]);
    vow_executor_release(serial);
}
