/* Tests chapter 7, event loops: handlers on the program's own thread, woken through one descriptor.
 */
#include "tools.h"
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static bool is_readable(vow_loop *loop) {
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    return poll(&one, 1, 0) == 1;
}

/* What a handler saw of the place where it ran. */
typedef struct place {
    atomic_int runs;
    pthread_t thread;
    vow_executor *current;
} place;

static vow_value look_around(vow_value input, void *context) {
    place *self = context;
    self->thread = pthread_self();
    self->current = vow_executor_current();
    atomic_fetch_add(&self->runs, 1);
    return vow_value_retain(input);
}

/* Waits until an atomic number has reached a value, running the loop. */
static bool runs_until(vow_loop *loop, atomic_int *number, int value) {
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (atomic_load(number) < value && now_ns() < limit) {
        if (vow_loop_run_once(loop, SECOND) < 0) {
            return false;
        }
    }
    return atomic_load(number) >= value;
}

TEST("a handler given to a loop runs in run_once, on that thread and no sooner") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    CHECK(loop != NULL && vow_loop_executor(loop) != NULL && vow_loop_fd(loop) >= 0);
    CHECK(!is_readable(loop));
    vow_promise *promise = vow_async(vow_loop_executor(loop), look_around, &seen);
    CHECK_INT_EQ(atomic_load(&seen.runs), 0);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    CHECK(pthread_equal(seen.thread, pthread_self()) != 0);
    CHECK(seen.current == vow_loop_executor(loop));
    CHECK(!is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("reactions that are made on the loop's thread run on the loop, until it is destroyed") {
    vow_executor *before = vow_executor_current();
    vow_loop *loop = vow_loop_create();
    CHECK(vow_executor_current() == vow_loop_executor(loop));
    place seen = {0};
    vow_promise *promise = vow_then(fulfilled_int(1), look_around, &seen);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(seen.current == vow_loop_executor(loop));
    vow_promise_release(promise);
    vow_loop *inner = vow_loop_create();
    CHECK(vow_executor_current() == vow_loop_executor(inner));
    vow_loop_destroy(inner);
    CHECK(vow_executor_current() == vow_loop_executor(loop));
    vow_loop_destroy(loop);
    CHECK(vow_executor_current() == before);
}

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_loop *no_loop;
static vow_promise *no_promise;

TEST("bad input") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = fulfilled_int(1);
    CHECK(vow_loop_executor(no_loop) == NULL);
    CHECK_INT_EQ(vow_loop_fd(no_loop), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_once(no_loop, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_once(loop, -2), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(no_loop, promise, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(loop, no_promise, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, -2), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_advance(no_loop, 1), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_advance(loop, 1), VOW_EINVAL);
    vow_loop_wake(NULL);
    vow_loop_destroy(NULL);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

/* Submits numbers to a loop's executor; the handler checks their order. */
typedef struct sender {
    vow_executor *executor;
    int64_t count;
    int64_t next; /* the handler's, on the loop's thread */
    int64_t wrong;
    int64_t refused;
    atomic_int done;
} sender;

static vow_value receive(vow_value input, void *context) {
    sender *self = context;
    self->wrong += input.as.integer != self->next;
    self->next++;
    return vow_none();
}

static void *send_all(void *context) {
    sender *self = context;
    for (int64_t i = 0; i < self->count; i++) {
        vow_promise_release(then_on(self->executor, fulfilled_int(i), receive, self));
    }
    atomic_store(&self->done, 1);
    return NULL;
}

static void many_senders(int64_t each, bool sleeps) {
    vow_loop *loop = vow_loop_create();
    sender senders[4];
    pthread_t threads[4];
    memset(senders, 0, sizeof senders);
    for (int i = 0; i < 4; i++) {
        senders[i].executor = vow_loop_executor(loop);
        senders[i].count = each;
        threads[i] = start_thread(send_all, &senders[i]);
    }
    int64_t ran = 0;
    while (ran < 4 * each) {
        if (!sleeps) {
            struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
            if (!CHECK_INT_EQ(poll(&one, 1, 60000 * slowness()), 1)) {
                break;
            }
        }
        int now = vow_loop_run_once(loop, sleeps ? LONG_ENOUGH : 0);
        if (!CHECK(now > 0 || !sleeps) || !CHECK(now >= 0 && now <= 2048)) {
            break;
        }
        ran += now;
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT_EQ(senders[i].next, each);
        CHECK_INT_EQ(senders[i].wrong, 0);
    }
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

TEST("very many handlers from 4 threads all run, in order per thread") {
    many_senders(many_of(20000, 250000), true);
}

TEST("the same with the program's own poll: no wake-up is lost") {
    many_senders(many_of(10000, 100000), false);
}

static void *send_slowly(void *context) {
    sender *self = context;
    for (int64_t i = 0; i < self->count; i++) {
        vow_promise_release(then_on(self->executor, fulfilled_int(i), receive, self));
        if (i % 3 == 0) {
            sched_yield();
        }
        if (i % 64 == 0) {
            usleep(1);
        }
    }
    return NULL;
}

TEST("single submissions to a loop that keeps falling asleep all wake it") {
    vow_loop *loop = vow_loop_create();
    sender one = {.executor = vow_loop_executor(loop), .count = 20000 / slowness()};
    pthread_t thread = start_thread(send_slowly, &one);
    while (one.next < one.count) {
        if (!CHECK(vow_loop_run_once(loop, LONG_ENOUGH) > 0)) {
            break;
        }
    }
    pthread_join(thread, NULL);
    CHECK_INT_EQ(one.wrong, 0);
    vow_loop_destroy(loop);
}

TEST("an idle loop's descriptor stays quiet, and its thread sleeps") {
    vow_loop *loop = vow_loop_create();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    CHECK_INT_EQ(poll(&one, 1, 100), 0);
    /* It sleeps, and in one piece: how often, is what the system counts. */
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_THREAD, &before);
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_loop_run_once(loop, 200 * MILLISECOND), 0);
    getrusage(RUSAGE_THREAD, &after);
    CHECK(now_ns() - start >= 200 * MILLISECOND);
    long sleeps = after.ru_nvcsw - before.ru_nvcsw;
    CHECK(sleeps >= 1 && sleeps <= 10 * slowness());
    vow_loop_destroy(loop);
}

static vow_value hand_on(vow_value input, void *context) {
    atomic_int *left = context;
    (void)input;
    if (atomic_fetch_sub(left, 1) > 1) {
        vow_promise_release(vow_async(NULL, hand_on, context));
    }
    return vow_none();
}

TEST("one run has a bound, and the descriptor says that more is left") {
    vow_loop *loop = vow_loop_create();
    atomic_int left = 2000;
    vow_promise_release(vow_async(NULL, hand_on, &left));
    int runs = 0;
    int handlers = 0;
    while (atomic_load(&left) > 0 && runs < 100) {
        CHECK(is_readable(loop));
        handlers += vow_loop_run_once(loop, VOW_FOREVER);
        runs++;
    }
    CHECK(runs > 1);
    CHECK_INT_EQ(handlers, 2000);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static void *wake_later(void *context) {
    usleep(20000);
    vow_loop_wake(context);
    return NULL;
}

TEST("a wake makes a waiting run return 0, or else the next one") {
    vow_loop *loop = vow_loop_create();
    pthread_t thread = start_thread(wake_later, loop);
    CHECK_INT_EQ(vow_loop_run_once(loop, LONG_ENOUGH), 0);
    pthread_join(thread, NULL);
    CHECK(!is_readable(loop));
    vow_loop_wake(loop);
    vow_loop_wake(loop);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 0);
    CHECK(!is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, MILLISECOND), 0);
    vow_loop_destroy(loop);
}

static vow_loop *interrupted;

static void on_signal(int number) {
    (void)number;
    int before = errno;
    errno = 77;
    vow_loop_wake(interrupted);
    if (errno != 77) {
        abort();
    }
    errno = before;
}

TEST("a wake from a signal handler") {
    struct sigaction action;
    struct sigaction before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    interrupted = vow_loop_create();
    sigaction(SIGUSR1, &action, &before);
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction alarm_before;
    sigaction(SIGVTALRM, &action, &alarm_before);
    CHECK_INT_EQ(raise(SIGUSR1), 0);
    CHECK_INT_EQ(vow_loop_run_once(interrupted, VOW_FOREVER), 0);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
    while (!is_readable(interrupted)) {
    }
    CHECK_INT_EQ(vow_loop_run_once(interrupted, VOW_FOREVER), 0);
    sigaction(SIGUSR1, &before, NULL);
    sigaction(SIGVTALRM, &alarm_before, NULL);
    vow_loop_destroy(interrupted);
}

static vow_value sleep_a_bit(vow_value input, void *context) {
    (void)input;
    (void)context;
    usleep(20000);
    return vow_int(5);
}

TEST("run_until waits for work of another thread, without spinning") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = vow_async(vow_executor_pool(), sleep_a_bit, NULL);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(!is_readable(loop));
    vow_promise_release(promise);
    for (int i = 0; i < 2000 / slowness(); i++) {
        CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(i), add_one, NULL)), i + 1);
    }
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

TEST("run_until: time-out, rejection, a promise that is settled already") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 0), VOW_PENDING);
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 10 * MILLISECOND), VOW_PENDING);
    CHECK(now_ns() - start >= 10 * MILLISECOND);
    CHECK_INT_EQ(vow_await(promise, MILLISECOND, NULL), VOW_PENDING);
    vow_reject(resolver, vow_int(1));
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 0), VOW_REJECTED);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("vow_await runs the loop of its thread") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = fulfilled_int(0);
    for (int i = 0; i < 1000; i++) {
        promise = vow_then(promise, add_one, NULL);
    }
    CHECK_INT_EQ(int_of(promise), 1000);
    vow_loop_destroy(loop);
}

/* A handler that runs its loop. */
typedef struct nested {
    vow_loop *loop;
    vow_promise *awaited;
    int answer;
    int64_t got;
    int depth;
} nested;

static vow_value run_until_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    vow_promise *promise = vow_async(NULL, add_one, NULL);
    promise = vow_then(then_on(vow_executor_pool(), promise, sleep_a_bit, NULL), add_one, NULL);
    self->answer = vow_loop_run_until(self->loop, promise, LONG_ENOUGH);
    self->got = int_of(promise);
    return vow_none();
}

TEST("a handler may run its loop until something settles") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    CHECK_INT_EQ(code_of(vow_async(NULL, run_until_inside, &context)), 0);
    CHECK_INT_EQ(context.answer, VOW_FULFILLED);
    CHECK_INT_EQ(context.got, 6);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static vow_value run_once_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    CHECK_INT_EQ(vow_loop_run_once(self->loop, MILLISECOND), 0);
    vow_promise_release(vow_async(NULL, add_one, NULL));
    self->answer = vow_loop_run_once(self->loop, VOW_FOREVER);
    vow_promise_release(vow_async(NULL, add_one, NULL));
    return vow_none();
}

TEST("run_once in a handler runs the others") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    vow_promise_release(vow_async(NULL, run_once_inside, &context));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 2);
    CHECK_INT_EQ(context.answer, 1);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static vow_value nest(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    if (self->depth++ < 1000000) {
        vow_promise *deeper = vow_async(NULL, nest, self);
        int answer = vow_await(deeper, VOW_FOREVER, NULL);
        vow_promise_release(deeper);
        if (answer == VOW_EDEADLOCK) {
            self->answer = answer;
            self->depth = 1000000;
        }
    }
    return vow_none();
}

TEST("nested runs end where the stack does, with VOW_EDEADLOCK") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    CHECK_INT_EQ(code_of(vow_async(NULL, nest, &context)), 0);
    CHECK_INT_EQ(context.answer, VOW_EDEADLOCK);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    vow_loop_destroy(loop);
}

static vow_value await_self(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    self->answer = vow_await(self->awaited, VOW_FOREVER, NULL);
    return vow_none();
}

TEST("a handler of a loop that waits for its own promise is told VOW_EDEADLOCK") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    context.awaited = vow_async(NULL, await_self, &context);
    CHECK_INT_EQ(vow_await(context.awaited, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(context.answer, VOW_EDEADLOCK);
    vow_promise_release(context.awaited);
    vow_loop_destroy(loop);
}

TEST("so is one that waits, in a run inside it, for the handler outside") {
    vow_loop *loop = vow_loop_create();
    nested outer = {.loop = loop};
    nested inner = {.loop = loop};
    vow_promise *first = vow_async(NULL, await_self, &outer);
    inner.awaited = first;
    outer.awaited = vow_async(NULL, await_self, &inner);
    CHECK_INT_EQ(vow_await(first, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(outer.answer, VOW_FULFILLED);
    CHECK_INT_EQ(inner.answer, VOW_EDEADLOCK);
    vow_promise_release(first);
    vow_promise_release(outer.awaited);
    vow_loop_destroy(loop);
}

static vow_value destroy_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    vow_loop_destroy(self->loop);
    self->answer = (int)vow_promise_state(self->awaited);
    CHECK(vow_executor_current() == vow_loop_executor(self->loop));
    return vow_int(3);
}

TEST("destroying rejects what is queued with VOW_ESHUTDOWN, and destroys the contexts") {
    vow_loop *loop = vow_loop_create();
    vow_executor *executor = vow_executor_retain(vow_loop_executor(loop));
    counter context = {0};
    vow_promise *queued[100];
    for (int i = 0; i < 100; i++) {
        queued[i] = link_full(executor, fulfilled_int(i), counter_run, NULL, &context, counter_end);
    }
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 100);
    for (int i = 0; i < 100; i++) {
        CHECK_INT_EQ(vow_promise_state(queued[i]), VOW_REJECTED);
        CHECK_INT_EQ(code_of(queued[i]), VOW_ESHUTDOWN);
    }
    CHECK_INT_EQ(code_of(then_on(executor, fulfilled_int(1), counter_run, &context)),
                 VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(vow_async(executor, counter_run, &context)), VOW_ESHUTDOWN);
    vow_executor_release(executor);
}

TEST("a loop destroyed by its own handler: the handler ends, the run says VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    counter context = {0};
    nested self = {.loop = loop};
    vow_promise *first = vow_async(NULL, destroy_inside, &self);
    self.awaited = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    CHECK_INT_EQ(vow_loop_run_once(loop, LONG_ENOUGH), VOW_ESHUTDOWN);
    CHECK_INT_EQ(self.answer, VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
    CHECK_INT_EQ(int_of(first), 3);
    CHECK_INT_EQ(code_of(self.awaited), VOW_ESHUTDOWN);
}

TEST("the same in run_until and vow_await") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    vow_promise *never = vow_promise_create(&resolver);
    nested self = {.loop = loop, .awaited = never};
    vow_promise_release(vow_async(NULL, destroy_inside, &self));
    CHECK_INT_EQ(vow_loop_run_until(loop, never, LONG_ENOUGH), VOW_ESHUTDOWN);
    loop = vow_loop_create();
    self.loop = loop;
    vow_promise_release(vow_async(NULL, destroy_inside, &self));
    CHECK_INT_EQ(vow_await(never, 50 * MILLISECOND, NULL), VOW_PENDING);
    vow_resolver_release(resolver);
    vow_promise_release(never);
}

static void *await_other(void *context) {
    nested *self = context;
    self->answer = vow_await(self->awaited, LONG_ENOUGH, NULL);
    return NULL;
}

TEST("a thread that is not the loop's waits while another one runs it") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    nested other = {.awaited = vow_async(NULL, look_around, &seen)};
    pthread_t thread = start_thread(await_other, &other);
    CHECK_INT_EQ(vow_loop_run_until(loop, other.awaited, LONG_ENOUGH), VOW_FULFILLED);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(other.answer, VOW_FULFILLED);
    vow_promise_release(other.awaited);
    vow_loop_destroy(loop);
}

typedef struct takeover {
    vow_loop *loop;
    atomic_int running;
    int answer;
    bool is_home;
} takeover;

static void *run_elsewhere(void *context) {
    takeover *self = context;
    atomic_store(&self->running, 1);
    self->answer = vow_loop_run_once(self->loop, LONG_ENOUGH);
    self->is_home = vow_executor_current() == vow_loop_executor(self->loop);
    return NULL;
}

TEST("a thread that runs a loop takes it over; meanwhile nobody else can run it") {
    vow_executor *before = vow_executor_current();
    takeover other = {.loop = vow_loop_create()};
    pthread_t thread = start_thread(run_elsewhere, &other);
    CHECK(reaches(&other.running, 1));
    while (vow_executor_current() != before) {
        sched_yield();
    }
    CHECK_INT_EQ(vow_loop_run_once(other.loop, 0), VOW_EINVAL);
    vow_resolver *resolver;
    vow_promise *never = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_loop_run_until(other.loop, never, 0), VOW_EINVAL);
    vow_loop_wake(other.loop);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(other.answer, 0);
    CHECK(other.is_home);
    CHECK(vow_executor_current() == before);
    CHECK_INT_EQ(vow_loop_run_once(other.loop, 0), 0);
    CHECK(vow_executor_current() == vow_loop_executor(other.loop));
    vow_loop_destroy(other.loop);
    vow_resolver_release(resolver);
    vow_promise_release(never);
}

static void *submit_until_refused(void *context) {
    sender *self = context;
    while (self->refused == 0) {
        vow_promise *promise = then_on(self->executor, fulfilled_int(0), add_one, NULL);
        vow_value out = vow_none();
        if (vow_promise_peek(promise, &out) && out.kind == VOW_ERROR) {
            self->refused = vow_error_code(out);
        }
        vow_promise_release(promise);
    }
    vow_executor_release(self->executor);
    return NULL;
}

static void ignore_unhandled(vow_value error, void *context) {
    (void)error;
    (void)context;
}

TEST("loops destroyed while other threads submit") {
    vow_on_unhandled(ignore_unhandled, NULL);
    for (int round = 0; round < many_of(40, 300) + 1; round++) {
        vow_loop *loop = vow_loop_create();
        sender senders[3];
        pthread_t threads[3];
        memset(senders, 0, sizeof senders);
        for (int i = 0; i < 3; i++) {
            senders[i].executor = vow_executor_retain(vow_loop_executor(loop));
            threads[i] = start_thread(submit_until_refused, &senders[i]);
        }
        for (int i = 0; i < round % 5; i++) {
            vow_loop_run_once(loop, MILLISECOND);
        }
        vow_loop_destroy(loop);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            CHECK_INT_EQ(senders[i].refused, VOW_ESHUTDOWN);
        }
    }
    vow_on_unhandled(NULL, NULL);
}

static vow_value resolve_it(vow_value input, void *context) {
    vow_resolve(context, vow_value_retain(input));
    return vow_none();
}

TEST("inline handlers of the loop's work run before run_once returns") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    place seen = {0};
    vow_promise *promise = then_inline(vow_promise_create(&resolver), look_around, &seen);
    vow_promise_release(vow_then(fulfilled_int(1), resolve_it, resolver));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

static void *make_and_leave(void *context) {
    *(vow_loop **)context = vow_loop_create();
    return NULL;
}

TEST("a loop outlives the thread that made it") {
    vow_loop *loop = NULL;
    pthread_join(start_thread(make_and_leave, &loop), NULL);
    atomic_int left = 3;
    vow_promise_release(vow_async(vow_loop_executor(loop), hand_on, &left));
    CHECK(runs_until(loop, &left, 0));
    vow_loop_destroy(loop);
}

static void in_child(void (*part)(vow_loop *), vow_loop *loop) {
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        part(loop);
        fflush(stdout);
        _exit(atomic_load(&harness_failures) == 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void child_of_a_loop(vow_loop *loop) {
    counter context = {0};
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_async(NULL, counter_run, &context)), VOW_EFORKED);
    vow_loop_wake(loop);
    vow_loop_destroy(loop);
    vow_loop *own = vow_loop_create();
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
    vow_loop_destroy(own);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
}

TEST("in a forked child a loop can only be destroyed, and a new one works") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    vow_promise *promise = vow_async(NULL, look_around, &seen);
    in_child(child_of_a_loop, loop);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK(!is_readable(loop));
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

static vow_value fork_inside(vow_value input, void *context) {
    vow_loop *loop = context;
    (void)input;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK_INT_EQ(vow_loop_run_once(loop, 0), VOW_EFORKED);
        return vow_bool(true);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
    return vow_bool(false);
}

TEST("a handler that forks: in the child the run ends, in the parent it goes on") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    pid_t parent = getpid();
    vow_promise *first = vow_async(NULL, fork_inside, loop);
    vow_promise *second = vow_async(NULL, look_around, &seen);
    int answer = vow_loop_run_once(loop, VOW_FOREVER);
    if (getpid() != parent) {
        CHECK_INT_EQ(answer, VOW_EFORKED);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(code_of(second), VOW_ESHUTDOWN);
        _exit(atomic_load(&harness_failures) == 0 ? 9 : 1);
    }
    CHECK_INT_EQ(answer, 2);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_promise_release(first);
    vow_promise_release(second);
    vow_loop_destroy(loop);
}

TEST("an executor as the default lets other threads reach the loop") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    vow_executor_set_default(vow_loop_executor(loop));
    vow_promise *promise =
        vow_then(then_on(vow_executor_pool(), fulfilled_int(1), add_one, NULL), look_around, &seen);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(pthread_equal(seen.thread, pthread_self()) != 0);
    vow_promise_release(promise);
    vow_executor_set_default(NULL);
    vow_loop_destroy(loop);
}

TEST(
    "what is cancelled in a loop's queue does not run, and its context goes with the loop's turn") {
    vow_loop *loop = vow_loop_create();
    counter context = {0};
    vow_promise *kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    }
    CHECK(vow_cancel(kept[1]));
    CHECK_INT_EQ(vow_promise_state(kept[1]), VOW_REJECTED);
    CHECK(vow_loop_run_once(loop, VOW_FOREVER) >= 2);
    CHECK_INT_EQ(atomic_load(&context.runs), 2);
    CHECK_INT_EQ(atomic_load(&context.ends), 3);
    CHECK_INT_EQ(code_of(kept[0]), 0);
    CHECK_INT_EQ(code_of(kept[1]), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(kept[2]), 0);
    kept[0] = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    CHECK(vow_cancel(kept[0]));
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&context.ends), 4);
    CHECK_INT_EQ(code_of(kept[0]), VOW_ECANCELLED);
}
