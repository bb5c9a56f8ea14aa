/* Tests fibers: where they run, waiting, taking, yielding, order, results, and bad input. Their
 * cancellation, rings and ends have files of their own. */
#include "dispatch.h"
#include "fiber_tools.h"

typedef struct visit {
    counter of;
    vow_executor *current;
    vow_kind input;
    int ends;
} visit;

static vow_value look_around(vow_value input, void *context) {
    visit *self = context;
    atomic_fetch_add(&self->of.runs, 1);
    self->current = vow_executor_current();
    self->input = input.kind;
    self->ends = atomic_load(&self->of.ends);
    return vow_int(7);
}

static void run_one(const ground *on) {
    visit self = {0};
    vow_promise *promise = fiber_counted(on->executor, look_around, &self, NULL);
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    CHECK_INT_EQ(outcome_of(promise), 7);
    CHECK(self.current == on->executor);
    CHECK_INT_EQ(self.input, VOW_NONE);
    CHECK_INT_EQ(self.ends, 0);
    CHECK_INT_EQ(atomic_load(&self.of.runs), 1);
}

TEST("a fiber's body runs on its executor, and its context ends before its promise settles") {
    on_each_executor(run_one);
}

static vow_value wait_once(vow_value input, void *context) {
    (void)input;
    held_wait(context, 0);
    return vow_int(((held *)context)->codes[0] + 1);
}

static void wait_for_thread(const ground *on) {
    held self;
    held_make(&self, on->executor);
    pthread_t thread = start_thread(resolve_when_entered, &self);
    CHECK_INT_EQ(outcome_of(fiber_counted(on->executor, wait_once, &self, NULL)), 6);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(self.answers[0], VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    held_end(&self);
}

TEST("a fiber waits for a promise that another thread resolves") {
    on_each_executor(wait_for_thread);
}

static vow_value wait_for_own_executor(vow_value input, void *context) {
    int64_t sum = 0;
    (void)input;
    for (int i = 0; i < 20; i++) {
        sum += outcome_of(vow_async(context, add_one, NULL));
    }
    CHECK(vow_executor_current() == context);
    return vow_int(sum);
}

static void go_on_meanwhile(const ground *on) {
    CHECK_INT_EQ(outcome_of(fiber_on(on->executor, wait_for_own_executor, on->executor)), 20);
}

TEST("while a fiber waits, its executor does the work that it waits for") {
    on_each_executor(go_on_meanwhile);
}

typedef struct level {
    vow_executor *executor;
    int depth;
} level;

static vow_value go_deeper(vow_value input, void *context) {
    level self = *(level *)context;
    (void)input;
    if (self.depth == 0) {
        return vow_int(0);
    }
    level next = {self.executor, self.depth - 1};
    return vow_int(outcome_of(fiber_on(self.executor, go_deeper, &next)) + 1);
}

static void nest_fibers(const ground *on) {
    level first = {on->executor, many_of(500, 5000)};
    CHECK_INT_EQ(outcome_of(fiber_on(on->executor, go_deeper, &first)), first.depth);
}

TEST("a fiber waits for a fiber that waits for a fiber, to any depth") {
    on_each_executor(nest_fibers);
}

typedef struct crowd {
    held at;
    pthread_t thread;
    int others;
    int next;
    int wrong;
} crowd;

typedef struct one_of {
    crowd *all;
    int number;
} one_of;

static vow_value wait_in_crowd(vow_value input, void *context) {
    one_of *self = context;
    (void)input;
    held_wait(&self->all->at, 0);
    self->all->others += !pthread_equal(pthread_self(), self->all->thread);
    self->all->wrong += self->all->next++ != self->number;
    return vow_none();
}

TEST("G2: ten thousand fibers wait on one loop, without a thread, and go on in their order") {
    int count = many_of(10000, 30000);
    vow_loop *loop = vow_loop_create();
    crowd all = {.thread = pthread_self()};
    one_of *each = calloc((size_t)count, sizeof *each);
    held_make(&all.at, vow_loop_executor(loop));
    for (int i = 0; i < count; i++) {
        each[i] = (one_of){&all, i};
        vow_promise_release(fiber_on(all.at.executor, wait_in_crowd, &each[i]));
    }
    come_to_rest(all.at.executor);
    CHECK_INT_EQ(atomic_load(&all.at.entered), count);
    CHECK_INT_EQ(harness_stats().handlers, (uint64_t)count);
    CHECK(vow_resolve(all.at.resolver, vow_int(1)));
    come_to_rest(all.at.executor);
    CHECK_INT_EQ(all.next, count);
    CHECK_INT_EQ(all.wrong, 0);
    CHECK_INT_EQ(all.others, 0);
    held_end(&all.at);
    vow_loop_destroy(loop);
    free(each);
}

typedef struct line {
    held at;
    journal in;
    struct place_in_line {
        struct line *all;
        int number;
    } waiting[20];
    entry handlers[20];
} line;

static vow_value write_after_wait(vow_value input, void *context) {
    struct place_in_line *self = context;
    (void)input;
    held_wait(&self->all->at, 0);
    journal_add(&self->all->in, self->number);
    return vow_none();
}

static void go_on_in_order(const ground *on) {
    line self;
    vow_promise *ends[40];
    memset(&self, 0, sizeof self);
    if (!on->is_serial) {
        return;
    }
    held_make(&self.at, on->executor);
    for (int i = 0; i < 20; i++) {
        self.waiting[i].all = &self;
        self.waiting[i].number = 2 * i;
        ends[2 * i] = fiber_on(on->executor, write_after_wait, &self.waiting[i]);
        come_to_rest(on->executor);
        self.handlers[i] = (entry){&self.in, 2 * i + 1};
        ends[2 * i + 1] = then_on(on->executor, vow_promise_retain(self.at.promise), entry_write,
                                  &self.handlers[i]);
    }
    CHECK(vow_resolve(self.at.resolver, vow_none()));
    for (int i = 0; i < 40; i++) {
        CHECK_INT_EQ(outcome_of(ends[i]), VOW_FULFILLED);
    }
    journal_counts_to(&self.in, 40);
    held_end(&self.at);
}

TEST("G2: fibers that wait for a promise and handlers on it run in order of registration") {
    on_each_executor(go_on_in_order);
}

typedef struct turn {
    journal *in;
    int first;
    int64_t answer;
} turn;

static vow_value take_turns(vow_value input, void *context) {
    turn *self = context;
    (void)input;
    for (int i = 0; i < 10; i++) {
        journal_add(self->in, self->first + 3 * i);
        self->answer |= vow_fiber_yield();
    }
    return vow_none();
}

static vow_value begin_turns(vow_value input, void *context) {
    turn *each = context;
    vow_promise *ends[3];
    (void)input;
    for (int i = 0; i < 3; i++) {
        ends[i] = fiber_on(NULL, take_turns, &each[i]);
    }
    return vow_from_promise(vow_all(ends, 3));
}

static void yield_in_turn(const ground *on) {
    journal in = {0};
    turn each[3] = {{&in, 0, 0}, {&in, 1, 0}, {&in, 2, 0}};
    CHECK_INT_EQ(outcome_of(vow_async(on->executor, begin_turns, each)), VOW_FULFILLED);
    CHECK_INT_EQ(each[0].answer | each[1].answer | each[2].answer, 0);
    if (on->is_serial) {
        journal_counts_to(&in, 30);
    }
    CHECK_INT_EQ(atomic_load(&in.count), 30);
}

TEST("vow_fiber_yield lets the other fibers of a serial executor take their turns") {
    on_each_executor(yield_in_turn);
}

static vow_value yield_in_handler(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(vow_fiber_yield() == VOW_EINVAL);
}

TEST("vow_fiber_yield outside of a fiber, and in a handler, gives VOW_EINVAL") {
    CHECK_INT_EQ(vow_fiber_yield(), VOW_EINVAL);
    CHECK_INT_EQ(outcome_of(vow_async(vow_executor_pool(), yield_in_handler, NULL)), 1);
    CHECK_INT_EQ(outcome_of(vow_async(vow_executor_inline(), yield_in_handler, NULL)), 1);
}

/* Gives up its only reference to the promise, or one of two. */
typedef struct giving {
    held at;
    bool has_reader;
    int64_t timeout;
    int64_t waited;
} giving;

static vow_value take_for_a_while(vow_value input, void *context) {
    giving *self = context;
    vow_value out = vow_int(1);
    (void)input;
    vow_promise *promise = self->at.promise;
    if (self->has_reader) {
        vow_promise_retain(promise);
    } else {
        self->at.promise = NULL;
    }
    int64_t begin = vow_now();
    self->at.answers[0] = vow_take(promise, self->timeout, &out);
    self->waited = vow_now() - begin;
    self->at.codes[0] = out.kind;
    return vow_none();
}

static void check_given_up(giving *self) {
    bool stays = self->has_reader;
    CHECK_INT_EQ(self->at.answers[0], VOW_PENDING);
    CHECK_INT_EQ(self->at.codes[0], VOW_NONE);
    CHECK(self->waited >= self->timeout);
    CHECK_INT_EQ(atomic_load(&self->at.told.runs), stays ? 0 : 1);
    CHECK(vow_resolve(self->at.resolver, vow_int(3)) == stays);
    held_end(&self->at);
}

static void give_up(const ground *on) {
    for (int i = 0; i < 4; i++) {
        giving self = {.has_reader = i % 2 == 1, .timeout = i < 2 ? 2 * MILLISECOND : 0};
        held_make(&self.at, on->executor);
        CHECK_INT_EQ(outcome_of(fiber_on(on->executor, take_for_a_while, &self)), VOW_FULFILLED);
        check_given_up(&self);
    }
}

TEST("vow_take cancels its promise when the time is up, unless that has another reader") {
    on_each_executor(give_up);
    for (int i = 0; i < 4; i++) {
        giving self = {.has_reader = i % 2 == 1, .timeout = i < 2 ? MILLISECOND : 0};
        held_make(&self.at, NULL);
        take_for_a_while(vow_none(), &self);
        check_given_up(&self);
    }
}

static void count_report(vow_value error, void *context) {
    (void)error;
    atomic_fetch_add((atomic_int *)context, 1);
}

static vow_value take_each(vow_value input, void *context) {
    counter *object = context;
    vow_value out;
    static vow_promise *no_promise;
    (void)input;
    CHECK_INT_EQ(vow_take(no_promise, VOW_FOREVER, &out), VOW_EINVAL);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK_INT_EQ(vow_take(fulfilled_int(1), -2, &out), VOW_EINVAL);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK_INT_EQ(vow_take(fulfilled_int(1), VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(vow_take(rejected_code(3), VOW_FOREVER, NULL), VOW_REJECTED);
    CHECK_INT_EQ(outcome_of(rejected_code(3)), 3);
    CHECK_INT_EQ(outcome_of(vow_async(NULL, fail_with_7, NULL)), 7);
    vow_promise *made = vow_promise_with(vow_object(object, &counter_class));
    vow_promise *later = vow_then(made, counter_run, object);
    CHECK_INT_EQ(vow_take(later, VOW_FOREVER, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &counter_class) == object);
    CHECK_INT_EQ(atomic_load(&object->ends), 0);
    return out;
}

static void own_values(const ground *on) {
    counter object = {0};
    atomic_int reports = 0;
    vow_value out;
    vow_on_unhandled(count_report, &reports);
    CHECK_INT_EQ(vow_take(fiber_on(on->executor, take_each, &object), VOW_FOREVER, &out),
                 VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &counter_class) == &object);
    CHECK_INT_EQ(atomic_load(&object.ends), 0);
    vow_value_release(out);
    /* Another thread may hold the last promise of the chain for a moment. */
    CHECK(reaches(&object.ends, 1));
    CHECK_INT_EQ(atomic_load(&reports), 0);
    vow_on_unhandled(NULL, NULL);
}

TEST("vow_take gives an owned value or error, which counts as handled, or says what is wrong") {
    on_each_executor(own_values);
}

TEST("vow_take with a wrong time-out gives its promise up") {
    giving self = {.has_reader = false, .timeout = -7};
    held_make(&self.at, NULL);
    take_for_a_while(vow_none(), &self);
    CHECK_INT_EQ(self.at.answers[0], VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.at.told.runs), 1);
    held_end(&self.at);
}

static vow_value return_held(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_store(&self->entered, 1);
    return vow_from_promise(vow_promise_retain(self->promise));
}

static void adopt_result(const ground *on) {
    held self;
    held_make(&self, on->executor);
    vow_promise *fiber = fiber_counted(on->executor, return_held, &self, NULL);
    if (on->is_serial) {
        come_to_rest(on->executor);
    } else {
        CHECK(reaches(&self.entered, 1));
    }
    CHECK_INT_EQ(vow_promise_state(fiber), VOW_PENDING);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 0);
    CHECK(vow_reject(self.resolver, vow_error("test", 12, "late")));
    CHECK_INT_EQ(vow_await(fiber, VOW_FOREVER, NULL), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    CHECK_INT_EQ(outcome_of(fiber), 12);
    held_end(&self);
}

TEST("a promise that a fiber returns is adopted, and the context ends when it has settled") {
    on_each_executor(adopt_result);
}

static void report_failure(const ground *on) {
    atomic_int reports = 0;
    vow_on_unhandled(count_report, &reports);
    vow_promise_release(fiber_on(on->executor, fail_with_7, NULL));
    if (on->loop != NULL) {
        come_to_rest(on->executor);
    }
    CHECK(reaches(&reports, 1));
    vow_on_unhandled(NULL, NULL);
}

TEST("the error of a fiber whose promise nobody holds is reported as unhandled") {
    on_each_executor(report_failure);
}

TEST("bad arguments of vow_fiber: a rejection, and the context ends, except for a wrong size") {
    static vow_handler no_body;
    counter of = {0};
    vow_value error;
    vow_fiber_options options = {.size = sizeof options, .destroy = counter_end};
    vow_promise *promise = vow_fiber(NULL, no_body, &of, &options);
    CHECK(vow_promise_peek(promise, &error));
    CHECK_INT_EQ(vow_error_code(error), VOW_EINVAL);
    CHECK_STR_HAS(vow_error_message(error), "vow_fiber");
    CHECK_STR_HAS(vow_error_message(error), "body");
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&of.ends), 1);
    options.stack = ((size_t)1 << 30) + 1;
    promise = vow_fiber(NULL, counter_run, &of, &options);
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_HAS(vow_error_message(error), "stack");
    CHECK_INT_EQ(outcome_of(promise), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&of.ends), 2);
    options.stack = SIZE_MAX;
    CHECK_INT_EQ(
        outcome_of(vow_fiber(NULL, add_one, NULL,
                             &(vow_fiber_options){.size = sizeof options, .stack = SIZE_MAX})),
        VOW_EINVAL);
    options.stack = 0;
    for (options.size = 0; options.size < sizeof options; options.size += 4) {
        CHECK_INT_EQ(outcome_of(vow_fiber(NULL, counter_run, &of, &options)), VOW_EINVAL);
    }
    CHECK_INT_EQ(atomic_load(&of.ends), 2);
    CHECK_INT_EQ(atomic_load(&of.runs), 0);
}

static vow_value find_default(vow_value input, void *context) {
    (void)input;
    vow_promise *inner = fiber_on(NULL, look_around, context);
    return vow_from_promise(inner);
}

static void inherit_executor(const ground *on) {
    visit self = {0};
    CHECK_INT_EQ(outcome_of(fiber_on(on->executor, find_default, &self)), 7);
    CHECK(self.current == on->executor);
}

TEST("a fiber without an executor has that of the fiber that makes it, or the pool") {
    on_each_executor(inherit_executor);
    visit self = {0};
    CHECK_INT_EQ(outcome_of(fiber_on(NULL, look_around, &self)), 7);
    CHECK(self.current == vow_executor_pool());
}

typedef struct clocked {
    journal *in;
    int number;
    int64_t timeout;
    int64_t waited;
    int64_t delayed;
} clocked;

static vow_value wait_exactly(vow_value input, void *context) {
    clocked *self = context;
    vow_resolver *resolver;
    (void)input;
    int64_t begin = vow_now();
    CHECK_INT_EQ(vow_take(vow_promise_create(&resolver), self->timeout, NULL), VOW_PENDING);
    self->waited = vow_now() - begin;
    journal_add(self->in, self->number);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(outcome_of(vow_delay(self->timeout + 1)), VOW_FULFILLED);
    self->delayed = vow_now() - begin;
    return vow_none();
}

TEST("on a virtual loop time-outs of fibers are exact to the nanosecond, and in order") {
    vow_loop *loop = vow_loop_create_virtual();
    journal in = {0};
    clocked each[40];
    vow_promise *ends[40];
    for (int i = 0; i < 40; i++) {
        /* Two of each: the first that was set comes first. */
        int number = i < 20 ? 38 - 2 * i : 2 * (i - 20) + 1;
        each[i] = (clocked){&in, number, HOUR + (number / 2) * 7, 0, 0};
        ends[i] = fiber_on(vow_loop_executor(loop), wait_exactly, &each[i]);
    }
    for (int i = 0; i < 40; i++) {
        CHECK_INT_EQ(outcome_of(ends[i]), VOW_FULFILLED);
        CHECK_INT_EQ(each[i].waited, each[i].timeout);
        CHECK_INT_EQ(each[i].delayed, 2 * each[i].timeout + 1);
    }
    journal_counts_to(&in, 40);
    vow_loop_destroy(loop);
}

static vow_value take_long_ago(vow_value input, void *context) {
    (void)input;
    CHECK_INT_EQ(vow_take(vow_async(context, add_one, NULL), HOUR, NULL), VOW_FULFILLED);
    return vow_int(vow_now());
}

TEST("a time-out that did not come leaves no timer: the virtual clock does not move") {
    vow_loop *loop = vow_loop_create_virtual();
    int64_t begin = vow_now();
    CHECK_INT_EQ(outcome_of(fiber_on(NULL, take_long_ago, vow_loop_executor(loop))), begin);
    CHECK_INT_EQ(vow_loop_advance(loop, 2 * HOUR), 0);
    vow_loop_destroy(loop);
}

typedef struct nested {
    vow_loop *loop;
    int64_t delay;
    int64_t waited;
} nested;

static vow_value run_until_in_fiber(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    int64_t begin = vow_now();
    vow_promise *work = vow_then(vow_delay(self->delay), add_one, NULL);
    CHECK_INT_EQ(vow_loop_run_until(self->loop, work, self->delay - 1), VOW_PENDING);
    CHECK_INT_EQ(vow_loop_run_until(self->loop, work, VOW_FOREVER), VOW_FULFILLED);
    self->waited = vow_now() - begin;
    vow_promise_release(work);
    return vow_none();
}

TEST("vow_loop_run_until in fibers of its loop ends for each when its own promise settles") {
    vow_loop *loop = vow_loop_create_virtual();
    nested each[3] = {{loop, 5 * SECOND, 0}, {loop, SECOND, 0}, {loop, 9 * SECOND, 0}};
    vow_promise *ends[3];
    for (int i = 0; i < 3; i++) {
        ends[i] = fiber_on(NULL, run_until_in_fiber, &each[i]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(outcome_of(ends[i]), VOW_FULFILLED);
        CHECK_INT_EQ(each[i].waited, each[i].delay);
    }
    vow_loop_destroy(loop);
}
