/* Tests a process that gets signals all the time: no wait ends early, nothing is lost. */
#include "../c/worker.h"

/* So many signals are a storm. */
#define ENOUGH 200

static atomic_llong received;
static atomic_bool stop;

static void count_signal(int number) {
    (void)number;
    atomic_fetch_add(&received, 1);
}

/* To the process, so that any thread gets it, those of libdispatch included; and to each thread in
 * turn, as a call that sleeps there is interrupted then. */
static void *send_signals(void *context) {
    pthread_t *threads = context;
    for (int i = 0; !atomic_load(&stop); i++) {
        kill(getpid(), SIGUSR1);
        pthread_kill(threads[i % 3], SIGUSR1);
        usleep(100);
    }
    return NULL;
}

static vow_value take_a_while(vow_value input, void *context) {
    int64_t end = now_ns() + 200000;
    (void)context;
    while (now_ns() < end) {
    }
    return vow_int(input.as.integer + 1);
}

static vow_executor *serial;

static void *work_on(void *context) {
    int rounds = slowness() > 1 ? 50 : 300;
    (void)context;
    for (int i = 0; i < rounds || atomic_load(&received) < ENOUGH; i++) {
        vow_promise *promise = fulfilled_int(i);
        promise = vow_then(promise, take_a_while, NULL);
        promise = then_on(serial, promise, take_a_while, NULL);
        promise = vow_then(promise, take_a_while, NULL);
        CHECK_INT_EQ(int_of(promise), i + 3);
    }
    return NULL;
}

/* A wait with a time-out that runs out: not before its time. */
static void *wait_in_vain(void *context) {
    int rounds = slowness() > 1 ? 5 : 20;
    (void)context;
    for (int i = 0; i < rounds; i++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        int64_t start = now_ns();
        CHECK_INT_EQ(vow_await(promise, 10 * MILLISECOND, NULL), VOW_PENDING);
        CHECK(now_ns() - start >= 10 * MILLISECOND);
        CHECK(now_ns() - start < LONG_ENOUGH);
        vow_promise_release(promise);
        vow_resolver_release(resolver);
    }
    return NULL;
}

TEST("a storm of signals ends no wait early and loses no work") {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal; /* no SA_RESTART: calls are interrupted */
    CHECK_INT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    pthread_t threads[3];
    pthread_t sender;
    serial = vow_executor_serial("under signals");
    atomic_store(&stop, false);
    threads[0] = start_thread(work_on, NULL);
    threads[1] = start_thread(work_on, NULL);
    threads[2] = start_thread(wait_in_vain, NULL);
    sender = start_thread(send_signals, threads);
    /* A thread that is joined may get signals no more: so the sender ends first. */
    work_on(NULL);
    atomic_store(&stop, true);
    pthread_join(sender, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(atomic_load(&received) >= ENOUGH);
    vow_executor_release(serial);
    signal(SIGUSR1, SIG_IGN);
}
