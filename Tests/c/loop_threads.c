/* Tests loops that other threads give work to, wait for, or take over. */
#include "loop_tools.h"

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
