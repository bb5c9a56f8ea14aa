/* Tests progress beside what ends: settling threads, destroyed loops, forks, the shutdown. */
#include "ear.h"

/* A delivery that cannot run is nobody's news. */
static atomic_int reports;

static void count_report(vow_value error, void *context) {
    (void)error;
    (void)context;
    atomic_fetch_add(&reports, 1);
}

typedef struct racer {
    vow_promise *promise;
    vow_resolver *resolver;
    atomic_int *go;
    int number;
} racer;

static void *races(void *context) {
    racer *self = context;
    while (atomic_load(self->go) == 0) {
    }
    for (int i = 1; i <= 40; i++) {
        vow_promise_set_progress(self->promise, (i % 41) / 41.0, "on its way");
    }
    if (self->resolver != NULL) {
        vow_resolve(self->resolver, vow_int(self->number));
        vow_resolver_release(self->resolver);
    }
    vow_promise_release(self->promise);
    return NULL;
}

TEST("setting, settling and releasing race, and each context is destroyed once") {
    enum { threads = 3 };
    int rounds = slowness() > 1 ? 50 : 500;
    for (int round = 0; round < rounds; round++) {
        static const int64_t intervals[] = {0, 1, 100000, MILLISECOND};
        ear all[3] = {{0}, {0}, {0}};
        atomic_int go = 0;
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        vow_on_progress(promise, intervals[round % 4], hear, &all[0], ear_end);
        vow_on_progress(promise, intervals[(round + 1) % 4], hear, &all[1], ear_end);
        racer racers[threads];
        pthread_t running[threads];
        for (int i = 0; i < threads; i++) {
            racers[i] = (racer){vow_promise_retain(promise), i == 0 ? resolver : NULL, &go, i};
            running[i] = start_thread(races, &racers[i]);
        }
        atomic_store(&go, 1);
        vow_on_progress(promise, 0, hear, &all[2], ear_end);
        vow_promise_release(promise);
        for (int i = 0; i < threads; i++) {
            pthread_join(running[i], NULL);
        }
        for (int i = 0; i < 3; i++) {
            CHECK(reaches(&all[i].ends, 1));
            CHECK_INT_EQ(atomic_load(&all[i].overlaps), 0);
        }
    }
}

typedef struct serial_end {
    ear *self;
    atomic_int handlers;
    atomic_int told_late;
} serial_end;

static serial_end ending;

static void hear_in_order(double fraction, const char *note, void *context) {
    hear(fraction, note, context);
    if (atomic_load(&ending.handlers) > 0) {
        atomic_fetch_add(&ending.told_late, 1);
    }
}

static vow_value settled_now(vow_value input, void *context) {
    (void)input;
    (void)context;
    atomic_fetch_add(&ending.handlers, 1);
    return vow_none();
}

TEST("on a serial executor no call comes after a handler of the settled promise") {
    vow_executor *serial = vow_executor_serial("ordered");
    for (int round = 0; round < (slowness() > 1 ? 50 : 500); round++) {
        ear self = {0};
        memset(&ending, 0, sizeof ending);
        atomic_int go = 1;
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        vow_executor_set_default(serial);
        vow_on_progress(promise, 0, hear_in_order, &self, ear_end);
        vow_executor_set_default(NULL);
        vow_promise *end = then_on(serial, vow_promise_retain(promise), settled_now, NULL);
        racer other = {vow_promise_retain(promise), resolver, &go, 1};
        pthread_t thread = start_thread(races, &other);
        for (int i = 1; i <= 40; i++) {
            vow_promise_set_progress(promise, i / 50.0, NULL);
        }
        pthread_join(thread, NULL);
        vow_promise_release(promise);
        CHECK_INT_EQ(code_of(end), 0);
        CHECK(reaches(&self.ends, 1));
        CHECK_INT_EQ(atomic_load(&ending.told_late), 0);
    }
    vow_executor_release(serial);
}

TEST("a destroyed loop ends deliveries, and setting progress for it goes on") {
    ear self = {0};
    vow_on_unhandled(count_report, NULL);
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, SECOND, hear, &self, ear_end);
    vow_promise_set_progress(promise, 0.1, NULL);
    vow_loop_run_once(loop, 0);
    vow_promise_set_progress(promise, 0.2, NULL);
    vow_loop_run_once(loop, 0);
    vow_promise_set_progress(promise, 0.3, NULL);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.4, NULL), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 1, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&reports), 0);
    vow_on_unhandled(NULL, NULL);
}

TEST("a forked child, whose pool is gone, sets progress and goes on") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, 0, hear, &self, NULL);
    vow_promise_set_progress(promise, 0.1, NULL);
    CHECK(reaches(&self.calls, 1));
    usleep(10000);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        ear own = {0};
        listen_inline(promise, 0, &own);
        vow_promise_set_progress(promise, 0.2, NULL);
        vow_promise_set_progress(promise, 0.3, NULL);
        _exit(atomic_load(&own.calls) == 2 && atomic_load(&self.calls) == 1 ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    give_up(promise, resolver);
}

/* The last one: there is no way back. */
TEST("after the shutdown, which ends the pool, setting progress goes on") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, 0, hear, &self, ear_end);
    CHECK_INT_EQ(vow_shutdown(LONG_ENOUGH), 1);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 1, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}
