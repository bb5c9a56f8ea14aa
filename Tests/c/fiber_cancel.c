/* Tests cancelling fibers: before they begin, while they wait, run or yield, once and twice. */
#include "dispatch.h"
#include "fiber_tools.h"

/* Waits again and again; each answer is kept. */
static vow_value wait_four_times(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_fetch_add(&self->of.runs, 1);
    for (int i = 0; i < 4; i++) {
        held_wait(self, i);
    }
    return vow_int(1);
}

/* Makes a fiber that waits for what the test holds. */
static void let_wait(held *self, const ground *on, vow_handler body, vow_token *token) {
    held_make(self, on->executor);
    self->fiber = fiber_counted(on->executor, body, self, token);
    if (on->is_serial) {
        come_to_rest(on->executor);
    }
    CHECK(reaches(&self->entered, 1));
}

static void check_answers(held *self, int first, int count, int answer, int64_t code) {
    for (int i = first; i < first + count; i++) {
        CHECK_INT_EQ(self->answers[i], answer);
        CHECK_INT_EQ(self->codes[i], code);
    }
}

static void cancel_waiting(const ground *on) {
    held self;
    let_wait(&self, on, wait_four_times, NULL);
    CHECK(vow_cancel(self.fiber));
    CHECK(!vow_cancel(self.fiber));
    CHECK_INT_EQ(vow_await(self.fiber, VOW_FOREVER, NULL), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    check_answers(&self, 0, 4, VOW_REJECTED, VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self.told.runs), 0);
    CHECK_INT_EQ(vow_promise_state(self.promise), VOW_PENDING);
    held_end(&self);
}

TEST("cancelling a fiber ends its present wait and all later ones; what it awaited stays") {
    on_each_executor(cancel_waiting);
}

static void cancel_by_token(const ground *on) {
    held self;
    vow_cancel_source *source = vow_cancel_source_create();
    let_wait(&self, on, wait_four_times, vow_cancel_source_token(source));
    CHECK(vow_cancel_source_cancel_with(source, vow_error("test", 31, "enough")));
    CHECK(!vow_cancel(self.fiber));
    CHECK_INT_EQ(reason_of(vow_promise_retain(self.fiber)), 31);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    vow_promise_release(self.fiber);
    check_answers(&self, 0, 4, VOW_REJECTED, VOW_ECANCELLED);
    held_end(&self);
    vow_cancel_source_release(source);
}

TEST("a cancelled token cancels a fiber that waits, with its reason") {
    stand_on(cancel_by_token, (ground){"inline", vow_executor_inline(), NULL, true});
    stand_on(cancel_by_token, (ground){"pool", vow_executor_pool(), NULL, false});
    vow_loop *loop = vow_loop_create();
    stand_on(cancel_by_token, (ground){"loop", vow_loop_executor(loop), loop, true});
    vow_loop_destroy(loop);
}

static void begin_cancelled(const ground *on) {
    counter of = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    CHECK(vow_cancel_source_cancel(source));
    vow_promise *fiber =
        fiber_counted(on->executor, counter_run, &of, vow_cancel_source_token(source));
    CHECK_INT_EQ(vow_await(fiber, VOW_FOREVER, NULL), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&of.ends), 1);
    CHECK_INT_EQ(outcome_of(fiber), VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&of.runs), 0);
    vow_cancel_source_release(source);
}

TEST("a fiber with a cancelled token does not begin, and its context ends") {
    on_each_executor(begin_cancelled);
}

typedef struct early {
    const ground *on;
    counter of;
    vow_promise *fiber;
} early;

/* A handler, so that the fiber that it makes on its serial executor has not begun. */
static vow_value cancel_before(vow_value input, void *context) {
    early *self = context;
    (void)input;
    self->fiber = fiber_counted(self->on->executor, counter_run, &self->of, NULL);
    return vow_int(vow_cancel(self->fiber));
}

static void cancel_unbegun(const ground *on) {
    early self = {.on = on};
    if (on->is_serial) {
        CHECK_INT_EQ(outcome_of(vow_async(on->executor, cancel_before, &self)), VOW_FULFILLED);
        CHECK_INT_EQ(vow_await(self.fiber, VOW_FOREVER, NULL), VOW_REJECTED);
        CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
        CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
        CHECK_INT_EQ(atomic_load(&self.of.runs), 0);
    }
}

TEST("a fiber that is cancelled before it begins does not run, and its context ends") {
    on_each_executor(cancel_unbegun);
}

typedef struct object_of {
    held at;
    counter object;
} object_of;

static vow_value cancel_itself(vow_value input, void *context) {
    object_of *self = context;
    (void)input;
    CHECK(reaches(&self->at.entered, 1));
    CHECK(!vow_current_is_cancelled());
    CHECK(vow_cancel(self->at.fiber));
    CHECK(vow_current_is_cancelled());
    held_wait(&self->at, 0);
    CHECK_INT_EQ(vow_fiber_yield(), 0);
    held_wait(&self->at, 1);
    CHECK(vow_current_is_cancelled());
    CHECK_INT_EQ(vow_promise_state(self->at.fiber), VOW_PENDING);
    return vow_object(&self->object, &counter_class);
}

static vow_value make_and_enter(vow_value input, void *context) {
    object_of *self = context;
    (void)input;
    self->at.fiber = fiber_counted(self->at.executor, cancel_itself, self, NULL);
    atomic_store(&self->at.entered, 1);
    return vow_none();
}

static void cancel_running(const ground *on) {
    object_of self = {.object = {0}};
    held_make(&self.at, on->executor);
    CHECK_INT_EQ(outcome_of(vow_async(on->executor, make_and_enter, &self)), VOW_FULFILLED);
    CHECK_INT_EQ(outcome_of(vow_promise_retain(self.at.fiber)), VOW_ECANCELLED);
    vow_promise_release(self.at.fiber);
    check_answers(&self.at, 0, 2, VOW_REJECTED, VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self.at.of.ends), 1);
    CHECK(reaches(&self.object.ends, 1));
    CHECK_INT_EQ(atomic_load(&self.object.ends), 1);
    held_end(&self.at);
}

TEST("a running fiber is cancelled by itself, goes on, and its result is released") {
    on_each_executor(cancel_running);
}

static vow_value clean_up(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    vow_promise *clean = vow_then(vow_delay(1000), add_one, NULL);
    clean = vow_shield(vow_then(clean, add_one, NULL));
    self->codes[1] = outcome_of(clean);
    held_wait(self, 2);
    CHECK_INT_EQ(atomic_load(&self->of.ends), 0);
    return vow_none();
}

static void shield_clean_up(const ground *on) {
    held self;
    let_wait(&self, on, clean_up, NULL);
    CHECK(vow_cancel(self.fiber));
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    check_answers(&self, 0, 1, VOW_REJECTED, VOW_ECANCELLED);
    CHECK_INT_EQ(self.codes[1], 2);
    check_answers(&self, 2, 1, VOW_REJECTED, VOW_ECANCELLED);
    held_end(&self);
}

TEST("G14: a cancelled fiber waits for a shield, and its promise settles when it has returned") {
    on_each_executor(shield_clean_up);
}

static vow_value wait_for_shield(vow_value input, void *context) {
    held *self = context;
    vow_promise *awaited = self->promise;
    (void)input;
    self->promise = vow_shield(vow_promise_retain(awaited));
    held_wait(self, 0);
    vow_promise_release(self->promise);
    self->promise = awaited;
    held_wait(self, 1);
    return vow_none();
}

static void cancel_in_shield(const ground *on) {
    held self;
    let_wait(&self, on, wait_for_shield, NULL);
    CHECK(vow_cancel(self.fiber));
    if (on->is_serial) {
        come_to_rest(on->executor);
    }
    CHECK_INT_EQ(vow_promise_state(self.fiber), VOW_PENDING);
    CHECK(vow_resolve(self.resolver, vow_int(8)));
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    check_answers(&self, 0, 1, VOW_FULFILLED, 8);
    held_end(&self);
}

TEST("a fiber that waits for a shield when it is cancelled gets the shield's outcome") {
    on_each_executor(cancel_in_shield);
}

static vow_value take_held(vow_value input, void *context) {
    held *self = context;
    vow_promise *promise = self->promise;
    (void)input;
    self->promise = NULL;
    atomic_fetch_add(&self->entered, 1);
    self->codes[0] = outcome_of(promise);
    return vow_none();
}

static void cancel_taker(const ground *on) {
    held self;
    let_wait(&self, on, take_held, NULL);
    CHECK(vow_cancel(self.fiber));
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    CHECK_INT_EQ(self.codes[0], VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self.told.runs), 1);
    held_end(&self);
}

TEST("a cancelled fiber that takes a promise cancels it, as its last reader") {
    on_each_executor(cancel_taker);
}

/* A tower of fibers, each of which takes the next; the last takes a promise that does not come. */
typedef struct tower {
    held at;
    int depth;
    atomic_int begun;
    atomic_int cancelled;
} tower;

static vow_value go_deeper(vow_value input, void *context) {
    tower *self = context;
    (void)input;
    vow_promise *next = atomic_fetch_add(&self->begun, 1) < self->depth
                            ? fiber_on(self->at.executor, go_deeper, self)
                            : vow_promise_retain(self->at.promise);
    atomic_fetch_add(&self->cancelled, outcome_of(next) == VOW_ECANCELLED);
    return vow_none();
}

static void cancel_tower(const ground *on) {
    tower self = {.depth = many_of(300, 3000)};
    held_make(&self.at, on->executor);
    vow_promise *first = fiber_on(on->executor, go_deeper, &self);
    for (int i = 0; i <= self.depth && on->loop != NULL; i++) {
        come_to_rest(on->executor);
    }
    CHECK(reaches(&self.begun, self.depth + 1));
    CHECK(vow_cancel(first));
    CHECK_INT_EQ(outcome_of(first), VOW_ECANCELLED);
    for (int i = 0; i <= self.depth && on->loop != NULL; i++) {
        come_to_rest(on->executor);
    }
    CHECK(reaches(&self.cancelled, self.depth + 1));
    CHECK_INT_EQ(atomic_load(&self.at.told.runs), 0);
    held_end(&self.at);
}

TEST("cancelling a fiber cancels the fibers that it takes, to any depth") {
    on_each_executor(cancel_tower);
}

static vow_value wait_and_note_time(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    self->codes[1] = vow_now();
    return vow_none();
}

static vow_value take_fiber(vow_value input, void *context) {
    held *self = context;
    (void)input;
    vow_promise *inner = fiber_on(NULL, wait_and_note_time, self);
    self->answers[2] = vow_take(inner, 3 * SECOND + 1, NULL);
    self->codes[2] = vow_now();
    return vow_none();
}

TEST("a time-out around a fiber, and a fiber that takes one for a time, cancel it to the moment") {
    vow_loop *loop = vow_loop_create_virtual();
    held self;
    held_make(&self, vow_loop_executor(loop));
    int64_t begin = vow_now();
    vow_promise *fiber = vow_timeout(fiber_on(NULL, wait_and_note_time, &self), SECOND + 7);
    CHECK_INT_EQ(outcome_of(fiber), VOW_ETIMEDOUT);
    come_to_rest(self.executor);
    CHECK_INT_EQ(self.codes[1] - begin, SECOND + 7);
    check_answers(&self, 0, 1, VOW_REJECTED, VOW_ECANCELLED);
    begin = vow_now();
    CHECK_INT_EQ(outcome_of(fiber_on(NULL, take_fiber, &self)), VOW_FULFILLED);
    come_to_rest(self.executor);
    CHECK_INT_EQ(self.answers[2], VOW_PENDING);
    CHECK_INT_EQ(self.codes[1] - begin, 3 * SECOND + 1);
    CHECK_INT_EQ(self.codes[2] - begin, 3 * SECOND + 1);
    held_end(&self);
    vow_loop_destroy(loop);
}

static vow_value take_with_limit(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_fetch_add(&self->entered, 1);
    self->answers[0] = vow_await(self->promise, HOUR, NULL);
    self->answers[1] = vow_await(self->promise, HOUR, NULL);
    return vow_none();
}

TEST("a cancelled wait takes its timer along: the virtual clock has none to come to") {
    vow_loop *loop = vow_loop_create_virtual();
    held self;
    let_wait(&self, &(ground){"virtual", vow_loop_executor(loop), loop, true}, take_with_limit,
             NULL);
    CHECK(vow_cancel(self.fiber));
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    CHECK_INT_EQ(self.answers[0], VOW_REJECTED);
    CHECK_INT_EQ(self.answers[1], VOW_REJECTED);
    CHECK_INT_EQ(vow_loop_advance(loop, 2 * HOUR), 0);
    held_end(&self);
    vow_loop_destroy(loop);
}

typedef struct yielder {
    counter of;
    atomic_int begun;
    bool was_cancelled;
} yielder;

static vow_value yield_until_cancelled(vow_value input, void *context) {
    yielder *self = context;
    (void)input;
    while (!vow_current_is_cancelled()) {
        atomic_store(&self->begun, 1);
        CHECK_INT_EQ(vow_fiber_yield(), 0);
    }
    self->was_cancelled = true;
    return vow_none();
}

static vow_value cancel_other(vow_value input, void *context) {
    (void)input;
    return vow_int(vow_cancel(context));
}

static void cancel_yielding(const ground *on) {
    yielder self = {.begun = 0};
    if (on->executor != vow_executor_inline()) {
        vow_promise *fiber = fiber_counted(on->executor, yield_until_cancelled, &self, NULL);
        vow_promise *canceller = vow_async(on->executor, cancel_other, fiber);
        CHECK_INT_EQ(outcome_of(canceller), 1);
        CHECK_INT_EQ(outcome_of(fiber), VOW_ECANCELLED);
        CHECK(self.was_cancelled || atomic_load(&self.begun) == 0);
        CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    }
}

TEST("a fiber that yields is cancelled by work of its executor between two of its turns") {
    on_each_executor(cancel_yielding);
}

static vow_value wait_and_add(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    atomic_fetch_add(&self->of.runs, 1);
    return vow_none();
}

static void release_handle(const ground *on) {
    held self;
    let_wait(&self, on, wait_and_add, NULL);
    vow_promise_release(self.fiber);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 0);
    CHECK(vow_resolve(self.resolver, vow_int(4)));
    if (on->is_serial) {
        come_to_rest(on->executor);
    }
    CHECK(reaches(&self.of.ends, 1));
    check_answers(&self, 0, 1, VOW_FULFILLED, 4);
    CHECK_INT_EQ(atomic_load(&self.of.runs), 1);
    held_end(&self);
}

TEST("a fiber whose promise nobody holds runs to its end") {
    on_each_executor(release_handle);
}

static void settle_then_cancel(const ground *on) {
    held self;
    let_wait(&self, on, wait_and_add, NULL);
    CHECK(vow_resolve(self.resolver, vow_int(4)));
    vow_cancel(self.fiber);
    vow_value out;
    int state = vow_take(self.fiber, VOW_FOREVER, &out);
    CHECK(state == (int)VOW_FULFILLED || vow_error_code(out) == VOW_ECANCELLED);
    vow_value_release(out);
    check_answers(&self, 0, 1, VOW_FULFILLED, 4);
    held_end(&self);
}

TEST("a wait whose promise settled before the cancellation has that outcome") {
    on_each_executor(settle_then_cancel);
}

static vow_value wait_and_return(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    vow_promise *promise = self->promise;
    self->promise = NULL;
    return vow_from_promise(promise);
}

static void cancel_returned(const ground *on) {
    held self;
    let_wait(&self, on, wait_and_return, NULL);
    CHECK(vow_cancel(self.fiber));
    CHECK_INT_EQ(outcome_of(self.fiber), VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self.told.runs), 1);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    held_end(&self);
}

TEST("a promise that a cancelled fiber returns is cancelled") {
    on_each_executor(cancel_returned);
}

static void cancel_in_scope(const ground *on) {
    held self;
    vow_scope *scope = vow_scope_create();
    let_wait(&self, on, wait_four_times, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, self.fiber), 0);
    vow_scope_cancel(scope);
    CHECK_INT_EQ(outcome_of(vow_scope_close(scope)), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    check_answers(&self, 0, 4, VOW_REJECTED, VOW_ECANCELLED);
    held_end(&self);
}

TEST("a fiber in a scope is cancelled with the scope, which ends when the body has returned") {
    on_each_executor(cancel_in_scope);
}

static vow_value wait_long_under_scope(vow_value input, void *context) {
    held *self = context;
    (void)input;
    CHECK_INT_EQ(outcome_of(vow_delay(SECOND)), VOW_FULFILLED);
    self->codes[0] = outcome_of(vow_delay(HOUR));
    self->codes[1] = vow_now();
    return vow_none();
}

static vow_value make_fiber_in_scope(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(fiber_on(NULL, wait_long_under_scope, context));
}

TEST("a fiber made under a scope keeps its deadline across waits") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_scope_options options = {.size = sizeof options, .deadline_ns = 5 * SECOND};
    held self = {.executor = vow_loop_executor(loop)};
    int64_t begin = vow_now();
    vow_scope *scope = vow_scope_create_with(&options);
    vow_promise_release(vow_scope_async(scope, NULL, make_fiber_in_scope, &self, NULL));
    CHECK_INT_EQ(outcome_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    CHECK_INT_EQ(self.codes[1] - begin, 5 * SECOND);
    CHECK(self.codes[0] == VOW_ECANCELLED || self.codes[0] == VOW_ETIMEDOUT);
    vow_loop_destroy(loop);
}

/* A fiber that is resolved, cancelled and timed out at the same time. */
typedef struct race {
    held at;
    atomic_int go;
    uint64_t random;
} race;

static void pause_at_random(race *self, int salt) {
    uint64_t spins = (self->random >> salt * 8) % 200;
    atomic_int count = 0;
    while ((uint64_t)atomic_fetch_add(&count, 1) < spins) {
    }
}

static vow_value wait_in_race(vow_value input, void *context) {
    race *self = context;
    vow_value out;
    (void)input;
    int answer = vow_await(self->at.promise, (int64_t)(self->random % 40000), &out);
    CHECK(answer == (int)VOW_PENDING || (answer == (int)VOW_FULFILLED && vow_as_int(out, NULL)) ||
          (answer == (int)VOW_REJECTED && vow_error_code(out) == VOW_ECANCELLED));
    vow_value_release(out);
    vow_fiber_yield();
    answer = vow_await(self->at.promise, VOW_FOREVER, &out);
    CHECK(answer == (int)VOW_FULFILLED ||
          (answer == (int)VOW_REJECTED && vow_error_code(out) == VOW_ECANCELLED));
    vow_value_release(out);
    return vow_int(3);
}

static void *resolve_in_race(void *context) {
    race *self = context;
    CHECK(reaches(&self->go, 1));
    pause_at_random(self, 1);
    CHECK(vow_resolve(self->at.resolver, vow_int(1)));
    return NULL;
}

static void *cancel_in_race(void *context) {
    race *self = context;
    CHECK(reaches(&self->go, 1));
    pause_at_random(self, 2);
    vow_cancel(self->at.fiber);
    return NULL;
}

static void race_ends(const ground *on) {
    if (on->loop != NULL) {
        return;
    }
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < many_of(300, 20000); round++) {
        race self = {.random =
                         (random ^= random << 13, random ^= random >> 7, random ^= random << 17)};
        held_make(&self.at, on->executor);
        self.at.fiber = fiber_counted(on->executor, wait_in_race, &self, NULL);
        pthread_t threads[2] = {start_thread(resolve_in_race, &self),
                                start_thread(cancel_in_race, &self)};
        atomic_store(&self.go, 1);
        int64_t outcome = outcome_of(vow_promise_retain(self.at.fiber));
        CHECK(outcome == 3 || outcome == VOW_ECANCELLED);
        CHECK_INT_EQ(atomic_load(&self.at.of.ends), 1);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        vow_promise_release(self.at.fiber);
        held_end(&self.at);
    }
}

TEST("a fiber that is resolved, cancelled and timed out at once has one of these ends, once") {
    on_each_executor(race_ends);
}
