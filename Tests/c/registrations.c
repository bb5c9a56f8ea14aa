/* Tests chapter 9, registrations: functions that can leave. */
#include "worker.h"

#include <semaphore.h>

/* A function that was registered: how often it was called and destroyed, and what it does. */
typedef struct registered {
    counter count;
    vow_registration *handle;
    vow_registration *other; /* leaves inside the function */
    vow_stage inside, of_other;
    bool lets_go;
} registered;

static void called(void *context) {
    registered *self = context;
    atomic_fetch_add(&self->count.runs, 1);
    self->inside = vow_registration_leave(self->handle);
    if (self->other != NULL) {
        self->of_other = vow_registration_leave(self->other);
    }
    if (self->lets_go) {
        vow_registration_release(self->handle);
    }
}

static void ended(void *context) {
    counter_end(&((registered *)context)->count);
}

static bool ran(registered *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->count.runs), runs) &&
           CHECK_INT_EQ(atomic_load(&of->count.ends), ends);
}

static bool stands(registered *of, vow_stage stage) {
    return CHECK_INT_EQ(vow_registration_stage(of->handle), stage);
}

static void with_token(registered *of, vow_token *token) {
    CHECK_INT_EQ(vow_token_register(token, called, of, ended, &of->handle), 0);
}

static void with_resolver(registered *of, vow_resolver *resolver) {
    CHECK_INT_EQ(vow_resolver_register(resolver, called, of, ended, &of->handle), 0);
}

static void let_go(registered *of, int count) {
    for (int i = 0; i < count; i++) {
        vow_registration_release(of[i].handle);
    }
}

TEST("what has left is never called: its context is destroyed at once, and the others are called") {
    for (int left = 0; left < 3; left++) {
        registered of[3] = {0};
        vow_cancel_source *source = vow_cancel_source_create();
        vow_token *token = vow_cancel_source_token(source);
        for (int i = 0; i < 3; i++) {
            with_token(&of[i], token);
            stands(&of[i], VOW_WAITING);
        }
        CHECK_INT_EQ(vow_registration_leave(of[left].handle), VOW_NEVER_RUNS);
        ran(&of[left], 0, 1);
        CHECK_INT_EQ(vow_registration_leave(of[left].handle), VOW_NEVER_RUNS);
        CHECK(vow_cancel_source_cancel(source));
        for (int i = 0; i < 3; i++) {
            ran(&of[i], i != left, 1);
            stands(&of[i], i == left ? VOW_NEVER_RUNS : VOW_HAS_RUN);
        }
        let_go(of, 3);
        vow_cancel_source_release(source);
    }
}

TEST("a producer's functions leave in any order; cancelling calls the rest, in order") {
    static const int orders[][2] = {{0, 1}, {1, 0}, {2, 1}, {3, 0}, {0, 3}, {3, 2}};
    for (size_t order = 0; order < sizeof orders / sizeof *orders; order++) {
        registered of[4] = {0};
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        for (int i = 0; i < 4; i++) {
            with_resolver(&of[i], resolver);
        }
        for (int i = 0; i < 2; i++) {
            registered *left = &of[orders[order][i]];
            CHECK_INT_EQ(vow_registration_leave(left->handle), VOW_NEVER_RUNS);
            ran(left, 0, 1);
        }
        CHECK(vow_cancel(promise));
        int runs = 0;
        for (int i = 0; i < 4; i++) {
            bool has_left = i == orders[order][0] || i == orders[order][1];
            ran(&of[i], !has_left, 1);
            runs += !has_left;
        }
        CHECK_INT_EQ(runs, 2);
        let_go(of, 4);
        vow_promise_release(promise);
        vow_resolver_release(resolver);
    }
}

TEST("a handle outlives its promise and its token") {
    registered of[2] = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = vow_promise_create(&resolver);
    with_token(&of[0], vow_cancel_source_token(source));
    with_resolver(&of[1], resolver);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_cancel_source_release(source);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    for (int i = 0; i < 2; i++) {
        ran(&of[i], 0, 1);
        stands(&of[i], VOW_NEVER_RUNS);
        CHECK_INT_EQ(vow_registration_leave(of[i].handle), VOW_NEVER_RUNS);
        ran(&of[i], 0, 1);
    }
    let_go(of, 2);
}

TEST("one that is not kept stays registered; its handle keeps neither promise nor token") {
    registered of[2] = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = vow_promise_create(&resolver);
    with_token(&of[0], vow_cancel_source_token(source));
    with_resolver(&of[1], resolver);
    for (int i = 0; i < 2; i++) {
        vow_registration *handle = of[i].handle;
        of[i].handle = NULL;
        CHECK(vow_registration_retain(handle) == handle);
        vow_registration_release(handle);
        vow_registration_release(handle);
    }
    CHECK(vow_cancel_source_cancel(source));
    vow_promise_release(promise);
    ran(&of[0], 1, 1);
    ran(&of[1], 1, 1);
    vow_cancel_source_release(source);
    vow_resolver_release(resolver);
}

TEST("inside the function it is running; it may let go of itself there") {
    for (int lets_go = 0; lets_go < 2; lets_go++) {
        registered of[3] = {0};
        vow_resolver *resolver;
        vow_cancel_source *source = vow_cancel_source_create();
        vow_promise *promise = vow_promise_create(&resolver);
        of[0].lets_go = of[1].lets_go = of[2].lets_go = lets_go;
        with_token(&of[0], vow_cancel_source_token(source));
        with_resolver(&of[1], resolver);
        CHECK(vow_cancel_source_cancel(source));
        CHECK(vow_cancel(promise));
        /* Registered too late: it runs before the handle is known to the caller. */
        with_token(&of[2], vow_cancel_source_token(source));
        for (int i = 0; i < 3; i++) {
            ran(&of[i], 1, 1);
            CHECK_INT_EQ(of[i].inside, VOW_RUNNING);
            if (!lets_go) {
                stands(&of[i], VOW_HAS_RUN);
            }
        }
        if (!lets_go) {
            let_go(of, 3);
        }
        vow_cancel_source_release(source);
        vow_promise_release(promise);
        vow_resolver_release(resolver);
    }
}

TEST("a function has a later one of the same cancellation leave, which is not called then") {
    registered of[4] = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = vow_promise_create(&resolver);
    with_token(&of[1], vow_cancel_source_token(source));
    with_resolver(&of[3], resolver);
    vow_registration_release(of[1].handle);
    vow_registration_release(of[3].handle);
    of[1].handle = of[3].handle = NULL;
    for (int i = 0; i < 4; i += 2) {
        registered *later = &of[i];
        registered *first = &of[i + 1];
        if (i == 0) {
            with_token(later, vow_cancel_source_token(source));
        } else {
            with_resolver(later, resolver);
        }
        first->other = later->handle;
    }
    CHECK(vow_cancel_source_cancel(source));
    CHECK(vow_cancel(promise));
    for (int i = 0; i < 4; i += 2) {
        ran(&of[i + 1], 1, 1);
        CHECK_INT_EQ(of[i + 1].of_other, VOW_NEVER_RUNS);
        ran(&of[i], 0, 1);
        stands(&of[i], VOW_NEVER_RUNS);
        vow_registration_release(of[i].handle);
    }
    vow_cancel_source_release(source);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

typedef struct slow {
    vow_cancel_source *source;
    vow_registration *handle;
    sem_t begun, may_end;
    atomic_int ended;
} slow;

static void run_slowly(void *context) {
    slow *self = context;
    sem_post(&self->begun);
    while (sem_wait(&self->may_end) != 0) {
    }
}

static void end_slowly(void *context) {
    atomic_store(&((slow *)context)->ended, 1);
}

static void *cancel_it(void *context) {
    slow *self = context;
    CHECK(vow_cancel_source_cancel(self->source));
    return NULL;
}

TEST("leaving while another thread runs the function says so and waits for nothing; destroy comes "
     "after it") {
    slow self = {.source = vow_cancel_source_create()};
    pthread_t thread;
    sem_init(&self.begun, 0, 0);
    sem_init(&self.may_end, 0, 0);
    CHECK_INT_EQ(vow_token_register(vow_cancel_source_token(self.source), run_slowly, &self,
                                    end_slowly, &self.handle),
                 0);
    pthread_create(&thread, NULL, cancel_it, &self);
    while (sem_wait(&self.begun) != 0) {
    }
    CHECK_INT_EQ(vow_registration_leave(self.handle), VOW_RUNNING);
    CHECK_INT_EQ(vow_registration_stage(self.handle), VOW_RUNNING);
    CHECK_INT_EQ(atomic_load(&self.ended), 0);
    sem_post(&self.may_end);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(atomic_load(&self.ended), 1);
    CHECK_INT_EQ(vow_registration_leave(self.handle), VOW_HAS_RUN);
    vow_registration_release(self.handle);
    vow_cancel_source_release(self.source);
}

TEST("what is left gives its memory back, though its token lives on") {
    vow_statistics before = {.size = sizeof before}, after = {.size = sizeof after};
    registered of[8] = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_stats(&before), 0);
    for (int i = 0; i < 8; i += 2) {
        with_token(&of[i], vow_cancel_source_token(source));
        with_resolver(&of[i + 1], resolver);
    }
    for (int i = 0; i < 8; i++) {
        CHECK_INT_EQ(vow_registration_leave(of[i].handle), VOW_NEVER_RUNS);
    }
    let_go(of, 8);
    CHECK_INT_EQ(vow_stats(&after), 0);
    CHECK_INT_EQ(after.bytes, before.bytes);
    vow_cancel_source_release(source);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("a registration that is refused destroys its context and gives no handle") {
    registered of = {0};
    vow_registration *handle = (vow_registration *)&of;
    vow_token *no_token = NULL;
    vow_resolver *no_resolver = NULL, *resolver;
    void (*no_function)(void *) = NULL;
    vow_registration **nowhere = NULL;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    CHECK_INT_EQ(vow_token_register(no_token, called, &of, ended, &handle), VOW_EINVAL);
    CHECK(handle == NULL);
    CHECK_INT_EQ(vow_resolver_register(no_resolver, called, &of, ended, &handle), VOW_EINVAL);
    CHECK_INT_EQ(vow_token_register(token, no_function, &of, ended, &handle), VOW_EINVAL);
    CHECK_INT_EQ(vow_resolver_register(resolver, no_function, &of, ended, &handle), VOW_EINVAL);
    CHECK_INT_EQ(vow_token_register(token, called, &of, ended, nowhere), VOW_EINVAL);
    CHECK_INT_EQ(vow_resolver_register(resolver, called, &of, ended, nowhere), VOW_EINVAL);
    ran(&of, 0, 6);
    CHECK_INT_EQ(vow_registration_leave(NULL), VOW_NEVER_RUNS);
    CHECK_INT_EQ(vow_registration_stage(NULL), VOW_NEVER_RUNS);
    CHECK(vow_registration_retain(NULL) == NULL);
    vow_registration_release(NULL);
    vow_cancel_source_release(source);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

/* Of a million, all leave, in an order of its own, or half do and the rest is called; the steps of
 * it all are counted by bench/check (registrations). Here each is called or destroyed once. */
TEST("as many as one likes on one token leave in any order") {
    size_t count = (size_t)many_of(20000, 1000000);
    registered *of = calloc(count, sizeof *of);
    for (int half = 0; half < 2; half++) {
        vow_cancel_source *source = vow_cancel_source_create();
        for (size_t i = 0; i < count; i++) {
            with_token(&of[i], vow_cancel_source_token(source));
        }
        for (size_t i = 0; i < count; i++) {
            size_t place = i * 7919 % count;
            if (half && place % 2) {
                continue;
            }
            vow_registration_leave(of[place].handle);
            vow_registration_release(of[place].handle);
            of[place].handle = NULL;
        }
        CHECK(vow_cancel_source_cancel(source));
        size_t runs = 0, ends = 0;
        for (size_t i = 0; i < count; i++) {
            runs += (size_t)atomic_load(&of[i].count.runs);
            ends += (size_t)atomic_load(&of[i].count.ends);
            vow_registration_release(of[i].handle);
            of[i] = (registered){0};
        }
        CHECK_INT_EQ(runs, half ? count / 2 : 0);
        CHECK_INT_EQ(ends, count);
        vow_cancel_source_release(source);
    }
    free(of);
}
