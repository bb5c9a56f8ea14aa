/* Tests progress: who hears of it, how often, where, and until when. */
#include "worker.h"

#include <math.h>
#include <sys/wait.h>

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_promise *no_promise;
static vow_resolver *no_resolver;
static vow_progress_handler no_listener;

/* A listener that remembers what it was told. */
typedef struct ear {
    atomic_int calls;
    atomic_int ends;
    atomic_int running;
    atomic_int overlaps;
    double fractions[256];
    int64_t moments[256];
    char note[256];
    bool had_note;
    int late; /* told after its promise was settled */
    vow_promise *promise;
    void (*also)(struct ear *self);
    int times;
} ear;

static void hear(double fraction, const char *note, void *context) {
    ear *self = context;
    if (atomic_fetch_add(&self->running, 1) != 0) {
        atomic_fetch_add(&self->overlaps, 1);
    }
    int place = atomic_load(&self->calls);
    if (place < 256) {
        self->fractions[place] = fraction;
        self->moments[place] = vow_now();
    }
    self->had_note = note != NULL;
    snprintf(self->note, sizeof self->note, "%s", note != NULL ? note : "");
    if (self->promise != NULL && vow_promise_state(self->promise) != VOW_PENDING) {
        self->late++;
    }
    atomic_fetch_sub(&self->running, 1);
    atomic_fetch_add(&self->calls, 1);
    if (self->also != NULL) {
        self->also(self);
    }
}

static void ear_end(void *context) {
    ear *self = context;
    CHECK_INT_EQ(atomic_load(&self->running), 0);
    atomic_fetch_add(&self->ends, 1);
}

static double last_of(ear *self) {
    int calls = atomic_load(&self->calls);
    return calls > 0 && calls <= 256 ? self->fractions[calls - 1] : -1;
}

/* Listens with the inline executor, whatever the thread's is. */
static int listen_inline(vow_promise *promise, int64_t interval, ear *self) {
    vow_executor_set_default(vow_executor_inline());
    int result = vow_on_progress(promise, interval, hear, self, ear_end);
    vow_executor_set_default(NULL);
    return result;
}

/* A delivery that cannot run is nobody's news. */
static atomic_int reports;

static void count_report(vow_value error, void *context) {
    (void)error;
    (void)context;
    atomic_fetch_add(&reports, 1);
}

static void give_up(vow_promise *promise, vow_resolver *resolver) {
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("a listener hears fraction and note of promise and resolver") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(listen_inline(promise, 0, &self), 0);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.25, "reading"), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    CHECK(self.fractions[0] == 0.25);
    CHECK_STR_EQ(self.note, "reading");
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(self.fractions[1] == 0.5);
    CHECK(!self.had_note);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.125, ""), 0);
    CHECK(self.fractions[2] == 0.125);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 3);
}

TEST("fractions are cut to 0 and 1, notes to 127 bytes, and what is no number is refused") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    char note[300];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = 0;
    listen_inline(promise, 0, &self);
    CHECK_INT_EQ(vow_promise_set_progress(promise, -3, note), 0);
    CHECK(self.fractions[0] == 0);
    CHECK_INT_EQ(strlen(self.note), 127);
    CHECK_INT_EQ(vow_promise_set_progress(promise, HUGE_VAL, NULL), 0);
    CHECK(self.fractions[1] == 1);
    CHECK_INT_EQ(vow_promise_set_progress(promise, NAN, NULL), VOW_EINVAL);
    CHECK_INT_EQ(vow_promise_set_progress(no_promise, 0.5, NULL), VOW_EINVAL);
    CHECK_INT_EQ(vow_resolver_set_progress(no_resolver, 0.5, NULL), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    give_up(promise, resolver);
}

TEST("listening that is refused destroys its context") {
    ear self = {0};
    vow_promise *promise = fulfilled_int(1);
    CHECK_INT_EQ(vow_on_progress(no_promise, 0, hear, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(vow_on_progress(promise, -1, hear, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(vow_on_progress(promise, 0, no_listener, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.ends), 3);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, NULL), 0);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, ear_end), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 4);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
}

TEST("nobody hears of progress after settling, and destroy comes with the promise's end") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    listen_inline(promise, 0, &self);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("listening keeps no promise alive and observes no rejection") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    listen_inline(promise, 0, &self);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("listeners of the same promise hear each piece of news once") {
    enum { ears = 5, news = 100 };
    ear all[ears];
    memset(all, 0, sizeof all);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < ears; i++) {
        if (i % 2 == 0) {
            listen_inline(promise, 0, &all[i]);
        } else {
            vow_on_progress(promise, 0, hear, &all[i], ear_end);
        }
    }
    for (int i = 1; i <= news; i++) {
        vow_promise_set_progress(promise, (double)i / (news + 1), NULL);
        for (int j = 0; j < ears; j++) {
            CHECK(reaches(&all[j].calls, i));
        }
    }
    usleep(20000);
    for (int j = 0; j < ears; j++) {
        CHECK_INT_EQ(atomic_load(&all[j].calls), news);
        CHECK_INT_EQ(atomic_load(&all[j].overlaps), 0);
    }
    give_up(promise, resolver);
    for (int j = 0; j < ears; j++) {
        CHECK(reaches(&all[j].ends, 1));
    }
}

TEST("an interval leaves out what is older, and the newest is told when it is over") {
    ear self = {0};
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_on_progress(promise, SECOND, hear, &self, ear_end), 0);
    for (int i = 1; i <= 50; i++) {
        vow_promise_set_progress(promise, i / 100.0, NULL);
        vow_loop_run_once(loop, 0);
    }
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_loop_advance(loop, SECOND - 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_loop_advance(loop, 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(last_of(&self) == 0.5);
    vow_loop_advance(loop, 10 * SECOND);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    vow_promise_set_progress(promise, 0.75, "now");
    vow_loop_run_once(loop, 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 3);
    CHECK_STR_EQ(self.note, "now");
    give_up(promise, resolver);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("at the end of a virtual clock no interval is left to wait for") {
    for (int way = 0; way < 2; way++) {
        ear self = {0};
        vow_loop *loop = vow_loop_create_virtual();
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        CHECK_INT_EQ(vow_on_progress(promise, way == 0 ? SECOND : INT64_MAX, hear, &self, ear_end),
                     0);
        vow_loop_advance(loop, INT64_MAX - vow_now());
        for (int i = 1; i <= 3; i++) {
            vow_promise_set_progress(promise, i / 10.0, NULL);
            vow_loop_run_once(loop, 0);
            vow_loop_advance(loop, SECOND);
            CHECK_INT_EQ(atomic_load(&self.calls), i);
        }
        CHECK(last_of(&self) == 0.3);
        give_up(promise, resolver);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(atomic_load(&self.ends), 1);
    }
}

TEST("an interval that goes beyond the end of a virtual clock ends with it") {
    ear self = {0};
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_on_progress(promise, 10 * SECOND, hear, &self, ear_end), 0);
    vow_loop_advance(loop, INT64_MAX - vow_now() - SECOND);
    vow_promise_set_progress(promise, 0.1, NULL);
    vow_loop_run_once(loop, 0);
    vow_promise_set_progress(promise, 0.2, NULL);
    vow_loop_run_once(loop, 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    CHECK(vow_loop_advance(loop, 10 * SECOND) > 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(last_of(&self) == 0.2);
    give_up(promise, resolver);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("fraction 1 waits for no interval") {
    ear self = {0};
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, SECOND, hear, &self, ear_end);
    vow_promise_set_progress(promise, 0.25, NULL);
    vow_loop_run_once(loop, 0);
    vow_promise_set_progress(promise, 0.5, NULL);
    vow_loop_run_once(loop, 0);
    vow_loop_run_once(loop, 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_promise_set_progress(promise, 1, "done");
    vow_loop_run_once(loop, 0);
    vow_loop_run_once(loop, 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(last_of(&self) == 1);
    CHECK_STR_EQ(self.note, "done");
    give_up(promise, resolver);
    vow_loop_advance(loop, 10 * SECOND);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    vow_loop_destroy(loop);
}

typedef struct remote {
    vow_promise *promise;
    double fraction;
} remote;

static void *set_from_elsewhere(void *context) {
    remote *self = context;
    vow_promise_set_progress(self->promise, self->fraction, NULL);
    return NULL;
}

TEST("an interval is of the time of the listener's executor, whoever sets the progress") {
    ear self = {0};
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, MILLISECOND, hear, &self, ear_end);
    for (int i = 1; i <= 5; i++) {
        remote other = {promise, i / 10.0};
        pthread_join(start_thread(set_from_elsewhere, &other), NULL);
        usleep(3000); /* longer than the interval, but the loop's clock stands still */
        vow_loop_run_once(loop, 0);
        vow_loop_run_once(loop, 0);
    }
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_loop_advance(loop, MILLISECOND);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(last_of(&self) == 0.5);
    give_up(promise, resolver);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("a delivery that waits is called off when its promise is freed") {
    ear self = {0};
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, 3600 * SECOND, hear, &self, ear_end);
    vow_promise_set_progress(promise, 0.25, NULL);
    vow_loop_run_once(loop, 0);
    vow_promise_set_progress(promise, 0.5, NULL);
    vow_loop_run_once(loop, 0);
    vow_loop_run_once(loop, 0);
    give_up(promise, resolver);
    vow_loop_run_once(loop, 0);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_loop_destroy(loop);
}

TEST("on the pool an interval is kept, and the newest is told at last") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_on_progress(promise, 5 * MILLISECOND, hear, &self, ear_end);
    int64_t start = now_ns();
    for (int i = 1; i <= 300; i++) {
        vow_promise_set_progress(promise, i / 400.0, NULL);
        CHECK(i > 1 || reaches(&self.calls, 1));
        usleep(100);
    }
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (last_of(&self) != 0.75 && now_ns() < limit) {
        usleep(1000);
    }
    CHECK(last_of(&self) == 0.75);
    int calls = atomic_load(&self.calls);
    CHECK(calls >= 2);
    /* A call is told of no sooner than it is due, but maybe much later than that. */
    for (int i = 1; i < calls && i < 256; i++) {
        CHECK(self.moments[i] - start >= i * 5 * MILLISECOND);
        CHECK(self.fractions[i] > self.fractions[i - 1]);
    }
    CHECK_INT_EQ(atomic_load(&self.overlaps), 0);
    give_up(promise, resolver);
    CHECK(reaches(&self.ends, 1));
}

static void sets_again(ear *self) {
    if (self->times > 0) {
        self->times--;
        vow_promise_set_progress(self->promise, 1.0 / (self->times + 2), NULL);
    }
}

TEST("a listener may set the progress it listens to") {
    ear self = {.also = sets_again, .times = 1000};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    vow_promise_set_progress(promise, 0, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 1001);
    CHECK_INT_EQ(self.late, 0);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

static ear second;

static void listens_again(ear *self) {
    self->also = NULL;
    CHECK_INT_EQ(vow_on_progress(self->promise, 0, hear, &second, ear_end), 0);
}

TEST("a listener may begin to listen, and releases what it was told last of") {
    ear self = {.also = listens_again};
    memset(&second, 0, sizeof second);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    vow_promise_set_progress(promise, 0.5, NULL);
    CHECK_INT_EQ(atomic_load(&second.calls), 0);
    vow_promise_set_progress(promise, 0.75, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK_INT_EQ(atomic_load(&second.calls), 1);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&second.ends), 1);
}

static vow_resolver *last_resolver;

static void releases_all(ear *self) {
    vow_resolver *resolver = last_resolver;
    vow_promise *promise = self->promise;
    self->promise = NULL;
    self->also = NULL;
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
}

TEST("a listener may settle and release its promise, and its context outlives the call") {
    ear self = {.also = releases_all};
    vow_promise *promise = vow_promise_create(&last_resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    /* Borrowed by this call as long as it lasts. */
    vow_promise_retain(promise);
    vow_promise_set_progress(promise, 0.5, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

/* Whether a listener heard of 1/count, 2/count and so on. */
static void heard_shares(ear *self, int count) {
    CHECK_INT_EQ(atomic_load(&self->calls), count);
    for (int i = 0; i < atomic_load(&self->calls) && i < 256; i++) {
        CHECK(self->fractions[i] == (i + 1) / (double)count);
    }
    CHECK(reaches(&self->ends, 1));
}

TEST("vow_all and vow_all_settled tell which share of their promises is done") {
    enum { members = 4 };
    for (int kind = 0; kind < 2; kind++) {
        ear self = {0};
        vow_resolver *resolvers[members];
        vow_promise *promises[members];
        for (int i = 0; i < members; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        vow_promise *combined =
            kind == 0 ? vow_all(promises, members) : vow_all_settled(promises, members);
        listen_inline(combined, 0, &self);
        for (int i = 0; i < members; i++) {
            vow_resolve(resolvers[i], vow_int(i));
            vow_resolver_release(resolvers[i]);
        }
        CHECK_INT_EQ(code_of(combined), 0);
        heard_shares(&self, members);
    }
}

static vow_value add_item(vow_value sum, vow_value item, void *context) {
    (void)context;
    return vow_int(sum.as.integer + item.as.integer);
}

TEST("vow_reduce tells which share of its promises is done") {
    enum { members = 4 };
    ear self = {0};
    vow_resolver *resolvers[members];
    vow_promise *promises[members];
    for (int i = 0; i < members; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
    vow_executor_set_default(vow_executor_inline());
    vow_promise *sum = vow_reduce(promises, members, vow_int(0), add_item, NULL);
    vow_executor_set_default(NULL);
    listen_inline(sum, 0, &self);
    for (int i = 0; i < members; i++) {
        vow_resolve(resolvers[i], vow_int(i));
        vow_resolver_release(resolvers[i]);
    }
    CHECK_INT_EQ(int_of(sum), 6);
    heard_shares(&self, members);
}

static vow_resolver *items[4];

static vow_value wait_for_item(vow_value input, void *context) {
    (void)context;
    return vow_from_promise(vow_promise_create(&items[input.as.integer]));
}

TEST("vow_map tells which share of its items is done") {
    vow_value numbers[4] = {vow_int(0), vow_int(1), vow_int(2), vow_int(3)};
    ear self = {0};
    vow_executor_set_default(vow_executor_inline());
    vow_promise *mapped = vow_map(vow_list(numbers, 4), wait_for_item, NULL, 0);
    vow_executor_set_default(NULL);
    listen_inline(mapped, 0, &self);
    for (int i = 3; i >= 0; i--) {
        vow_resolve(items[i], vow_int(i));
        vow_resolver_release(items[i]);
    }
    CHECK_INT_EQ(code_of(mapped), 0);
    heard_shares(&self, 4);
}

static void *settle_from_elsewhere(void *context) {
    vow_resolver **all = context;
    for (int i = 0; all[i] != NULL; i++) {
        vow_resolve(all[i], vow_int(i));
        vow_resolver_release(all[i]);
    }
    return NULL;
}

TEST("the share of a combinator does not go back, whichever thread is faster") {
    enum { threads = 4, each = 50, rounds = 20 };
    for (int round = 0; round < rounds * (slowness() > 1 ? 1 : 5); round++) {
        ear self = {0};
        vow_resolver *resolvers[threads][each + 1];
        vow_promise *promises[threads * each + 1];
        vow_resolver *last;
        for (int i = 0; i < threads; i++) {
            for (int j = 0; j < each; j++) {
                promises[i * each + j] = vow_promise_create(&resolvers[i][j]);
            }
            resolvers[i][each] = NULL;
        }
        promises[threads * each] = vow_promise_create(&last);
        vow_promise *combined = vow_all(promises, threads * each + 1);
        vow_on_progress(combined, 0, hear, &self, ear_end);
        pthread_t running[threads];
        for (int i = 0; i < threads; i++) {
            running[i] = start_thread(settle_from_elsewhere, resolvers[i]);
        }
        for (int i = 0; i < threads; i++) {
            pthread_join(running[i], NULL);
        }
        double wanted = threads * each / (threads * each + 1.0);
        int64_t limit = now_ns() + LONG_ENOUGH;
        while (last_of(&self) != wanted && now_ns() < limit) {
            usleep(100);
        }
        CHECK(last_of(&self) == wanted);
        for (int i = 1; i < atomic_load(&self.calls) && i < 256; i++) {
            CHECK(self.fractions[i] > self.fractions[i - 1]);
        }
        vow_resolve(last, vow_none());
        vow_resolver_release(last);
        CHECK_INT_EQ(code_of(combined), 0);
        CHECK(reaches(&self.ends, 1));
    }
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

TEST("a promise that was never pending has nothing to tell") {
    ear self = {0};
    vow_promise *promise = vow_delay(-1);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, ear_end), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    vow_promise_release(vow_catch(promise, give_code, NULL));
    CHECK(reaches(&self.ends, 1));
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
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
