/* Tests that what a timer or a descriptor calls off loops holds up no other timer and no other
 * descriptor: it may be slow, or wait for one of them. */
#include "tools.h"

/* Comes only if somebody fires timers. */
static bool comes(vow_promise *promise) {
    return code_of(promise) == 0;
}

static atomic_bool is_over;

/* Foreign code that knows nothing of promises: it ends when the test says so. */
static vow_value waits_for_the_test(vow_value input, void *begun) {
    atomic_store((atomic_bool *)begun, true);
    while (!atomic_load(&is_over)) {
        usleep(200);
    }
    return vow_value_retain(input);
}

static void until(atomic_bool *flag) {
    while (!atomic_load(flag)) {
        usleep(200);
    }
}

static vow_value waits_for_a_delay(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(comes(vow_delay(MILLISECOND)));
}

TEST("an inline handler of a delay may wait for a delay") {
    CHECK_INT_EQ(int_of(then_inline(vow_delay(MILLISECOND), waits_for_a_delay, NULL)), 1);
    CHECK(comes(vow_delay(MILLISECOND)));
}

static vow_value depth_left(vow_value input, void *context) {
    (void)input;
    int64_t left = (int64_t)(intptr_t)context;
    if (left == 0) {
        return vow_int(0);
    }
    vow_promise *next =
        then_inline(vow_delay(MILLISECOND), depth_left, (void *)(intptr_t)(left - 1));
    return vow_int(1 + int_of(next));
}

TEST("twenty, each waiting for the next") {
    CHECK_INT_EQ(int_of(then_inline(vow_delay(MILLISECOND), depth_left, (void *)(intptr_t)20)), 20);
}

typedef struct worker_end {
    vow_resolver *ended;
    vow_promise *end;
    int64_t code;
    atomic_int waits; /* that have ended */
} worker_end;

/* The hook of work that was given up: it waits for its worker, not longer than 100 ms. */
static void wait_for_worker(void *context) {
    worker_end *worker = context;
    vow_promise *limited = vow_timeout(vow_promise_retain(worker->end), 100 * MILLISECOND);
    worker->code = code_of(limited);
    atomic_fetch_add(&worker->waits, 1);
}

TEST("the hook of an expired time-out may wait with a time-out") {
    worker_end worker = {0};
    worker.end = vow_promise_create(&worker.ended);
    vow_resolver *resolver;
    vow_promise *work = vow_promise_create(&resolver);
    vow_resolver_on_cancel(resolver, wait_for_worker, &worker, NULL);
    vow_promise *limited = vow_timeout(work, MILLISECOND);
    CHECK_INT_EQ(code_of(limited), VOW_ETIMEDOUT);
    CHECK(comes(vow_delay(MILLISECOND)));
    CHECK(reaches(&worker.waits, 1));
    CHECK_INT_EQ(worker.code, VOW_ETIMEDOUT);
    vow_resolver_release(resolver);
    vow_resolver_release(worker.ended);
    vow_promise_release(worker.end);
}

/* A hook of a time-out. One that is over before vow_timeout has returned calls it on this thread.
 */
typedef struct slow_hook {
    vow_resolver *resolver;
    vow_promise *limited;
    pthread_t test;
    atomic_bool begun;
    atomic_int here;
    atomic_int ended;
} slow_hook;

static void run_slowly(void *context) {
    slow_hook *self = context;
    if (pthread_equal(pthread_self(), self->test)) {
        atomic_store(&self->here, 1);
    } else {
        vow_value_release(waits_for_the_test(vow_none(), &self->begun));
    }
    atomic_store(&self->ended, 1);
}

static void end_slowly(slow_hook *self);

static void begin_slowly(slow_hook *self) {
    for (;;) {
        self->test = pthread_self();
        vow_promise *work = vow_promise_create(&self->resolver);
        vow_resolver_on_cancel(self->resolver, run_slowly, self, NULL);
        self->limited = vow_timeout(work, MILLISECOND);
        if (atomic_load(&self->here) == 0) {
            break;
        }
        end_slowly(self);
        atomic_store(&self->here, 0);
        atomic_store(&self->ended, 0);
    }
    until(&self->begun);
}

static void end_slowly(slow_hook *self) {
    CHECK_INT_EQ(code_of(self->limited), VOW_ETIMEDOUT);
    CHECK(reaches(&self->ended, 1));
    vow_resolver_release(self->resolver);
}

static void check_delays_come_beside(int slow) {
    slow_hook hooks[30] = {0};
    atomic_store(&is_over, false);
    for (int i = 0; i < slow; i++) {
        begin_slowly(&hooks[i]);
    }
    for (int i = 0; i < 10; i++) {
        CHECK(comes(vow_delay(MILLISECOND / 2)));
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < slow; i++) {
        end_slowly(&hooks[i]);
    }
}

TEST("a slow hook of a time-out holds up no delay") {
    check_delays_come_beside(1);
}

TEST("nor do thirty of them") {
    check_delays_come_beside(30);
}

typedef struct two_pipes {
    int first[2];
    int second[2];
} two_pipes;

static two_pipes make_pipes(void) {
    two_pipes pipes;
    CHECK_INT_EQ(pipe(pipes.first), 0);
    CHECK_INT_EQ(pipe(pipes.second), 0);
    return pipes;
}

static void close_pipes(two_pipes pipes) {
    close(pipes.first[0]);
    close(pipes.first[1]);
    close(pipes.second[0]);
    close(pipes.second[1]);
}

static void write_one(int fd) {
    CHECK_INT_EQ(write(fd, "x", 1), 1);
}

static vow_value waits_for_a_descriptor(vow_value input, void *context) {
    (void)input;
    two_pipes *pipes = context;
    vow_promise *ready = vow_fd_ready(pipes->second[0], VOW_READ);
    write_one(pipes->second[1]);
    return vow_int(int_of(ready));
}

TEST("an inline handler of a descriptor may wait for another one") {
    two_pipes pipes = make_pipes();
    vow_promise *ready =
        then_inline(vow_fd_ready(pipes.first[0], VOW_READ), waits_for_a_descriptor, &pipes);
    write_one(pipes.first[1]);
    CHECK_INT_EQ(int_of(ready), VOW_READ);
    close_pipes(pipes);
}

TEST("a slow handler of a descriptor holds up no other one, and no delay") {
    two_pipes pipes = make_pipes();
    atomic_bool begun = false;
    atomic_store(&is_over, false);
    vow_promise *slow =
        then_inline(vow_fd_ready(pipes.first[0], VOW_READ), waits_for_the_test, &begun);
    write_one(pipes.first[1]);
    until(&begun);
    for (int i = 0; i < 10; i++) {
        char byte;
        vow_promise *ready = vow_fd_ready(pipes.second[0], VOW_READ);
        write_one(pipes.second[1]);
        CHECK_INT_EQ(int_of(ready), VOW_READ);
        CHECK_INT_EQ(read(pipes.second[0], &byte, 1), 1);
        CHECK(comes(vow_delay(MILLISECOND / 2)));
    }
    atomic_store(&is_over, true);
    CHECK_INT_EQ(code_of(slow), 0);
    /* The first source goes on, or one that has taken its place. */
    vow_promise *ready = vow_fd_ready(pipes.second[0], VOW_READ);
    write_one(pipes.second[1]);
    CHECK_INT_EQ(int_of(ready), VOW_READ);
    close_pipes(pipes);
}
