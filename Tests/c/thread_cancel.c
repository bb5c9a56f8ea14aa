/* Tests pthread_cancel: no function of the library is a cancellation point, so that a thread which
 * is cancelled leaves no lock and no loop taken. */
#include "tools.h"

/* Whether a thread that was cancelled ended by that. */
static bool was_cancelled(pthread_t thread) {
    void *end = NULL;
    CHECK_INT_EQ(pthread_join(thread, &end), 0);
    return end == PTHREAD_CANCELED;
}

typedef struct loop_thread {
    vow_loop *loop;
    vow_promise *awaited;
    atomic_int waits;
} loop_thread;

static vow_value wait_in_handler(vow_value input, void *context) {
    loop_thread *self = context;
    (void)input;
    atomic_fetch_add(&self->waits, 1);
    return vow_int(int_of(vow_promise_retain(self->awaited)));
}

static void *run_loop(void *context) {
    loop_thread *self = context;
    self->loop = vow_loop_create();
    vow_promise *waits = vow_async(vow_loop_executor(self->loop), wait_in_handler, self);
    CHECK_INT_EQ(vow_loop_run_until(self->loop, waits, LONG_ENOUGH), VOW_FULFILLED);
    vow_promise_release(waits);
    vow_loop_destroy(self->loop);
    return NULL;
}

/* Work for a serial executor makes those look again who wait in handlers. */
static void *give_work_while_cancelled(void *serial) {
    pthread_cancel(pthread_self());
    for (int i = 0; i < 100; i++) {
        vow_promise_release(vow_async(serial, add_one, NULL));
    }
    pthread_testcancel();
    return NULL;
}

TEST("a cancelled thread that makes others look again leaves no lock behind") {
    loop_thread self = {0};
    vow_resolver *resolver;
    vow_executor *serial = vow_executor_serial("beside");
    self.awaited = vow_promise_create(&resolver);
    pthread_t waiting = start_thread(run_loop, &self);
    CHECK(reaches(&self.waits, 1));
    usleep(20000);
    CHECK(was_cancelled(start_thread(give_work_while_cancelled, serial)));
    CHECK_INT_EQ(vow_await(self.awaited, MILLISECOND, NULL), VOW_PENDING);
    CHECK_INT_EQ(code_of(vow_async(serial, counter_run, &(counter){0})), 0);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    pthread_join(waiting, NULL);
    vow_promise_release(self.awaited);
    vow_executor_release(serial);
}

static void *run_once(void *context) {
    loop_thread *self = context;
    atomic_fetch_add(&self->waits, 1);
    vow_loop_run_once(self->loop, VOW_FOREVER);
    pthread_testcancel();
    return NULL;
}

TEST("a thread that is cancelled while it sleeps in a loop does not keep it") {
    loop_thread self = {.loop = vow_loop_create()};
    pthread_t sleeping = start_thread(run_once, &self);
    CHECK(reaches(&self.waits, 1));
    usleep(20000);
    pthread_cancel(sleeping);
    vow_loop_wake(self.loop);
    CHECK(was_cancelled(sleeping));
    CHECK_INT_EQ(vow_loop_run_once(self.loop, 0), 0);
    vow_loop_destroy(self.loop);
}

static vow_value sleep_in_handler(vow_value input, void *context) {
    atomic_fetch_add(&((loop_thread *)context)->waits, 1);
    usleep(50000);
    return vow_value_retain(input);
}

TEST("nor does one that is cancelled in a handler there") {
    loop_thread self = {.loop = vow_loop_create()};
    vow_promise *work = vow_async(vow_loop_executor(self.loop), sleep_in_handler, &self);
    pthread_t running = start_thread(run_once, &self);
    CHECK(reaches(&self.waits, 2));
    pthread_cancel(running);
    CHECK(was_cancelled(running));
    CHECK_INT_EQ(vow_loop_run_until(self.loop, work, LONG_ENOUGH), VOW_FULFILLED);
    vow_promise_release(work);
    vow_loop_destroy(self.loop);
}

/* What a function that waits returned to a thread that was cancelled in it. */
static atomic_int answer;

static void *run_until(void *context) {
    loop_thread *self = context;
    atomic_fetch_add(&self->waits, 1);
    atomic_store(&answer, vow_loop_run_until(self->loop, self->awaited, VOW_FOREVER));
    pthread_testcancel();
    return NULL;
}

static void *await_off_loops(void *context) {
    loop_thread *self = context;
    atomic_fetch_add(&self->waits, 1);
    atomic_store(&answer, vow_await(self->awaited, VOW_FOREVER, NULL));
    pthread_testcancel();
    return NULL;
}

/* It is cancelled while it sleeps, and sleeps on until the promise is settled. */
static void cancelled_while_waiting(void *(*waits)(void *), loop_thread *self) {
    vow_resolver *resolver;
    self->awaited = vow_promise_create(&resolver);
    atomic_store(&self->waits, 0);
    atomic_store(&answer, VOW_PENDING);
    pthread_t waiting = start_thread(waits, self);
    CHECK(reaches(&self->waits, 1));
    usleep(20000);
    pthread_cancel(waiting);
    usleep(20000);
    CHECK_INT_EQ(atomic_load(&answer), VOW_PENDING);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    CHECK(was_cancelled(waiting));
    CHECK_INT_EQ(atomic_load(&answer), VOW_FULFILLED);
    vow_promise_release(self->awaited);
}

TEST("a thread that is cancelled in vow_await or vow_loop_run_until waits to the end first") {
    loop_thread self = {.loop = NULL};
    cancelled_while_waiting(await_off_loops, &self);
    self.loop = vow_loop_create();
    cancelled_while_waiting(run_until, &self);
    vow_loop_destroy(self.loop);
}
