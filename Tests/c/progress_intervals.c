/* Tests how often progress is told: the interval between two calls, by whose clock. */
#include "ear.h"

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
