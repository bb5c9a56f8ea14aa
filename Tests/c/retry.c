/* Tests of vow_retry: on a virtual clock, so that each delay is exact. */
#include "meter.h"

enum { MOST = 64 };

typedef struct trial {
    int64_t times[MOST]; /* when each attempt was made */
    atomic_int made;
    int good; /* the attempt that succeeds; 0: none */
    atomic_int asked;
    int willing; /* so many times */
    int64_t wrong_numbers;
    vow_resolver *resolver;
} trial;

static vow_value try_it(vow_value number, void *context) {
    trial *self = context;
    int made = atomic_fetch_add(&self->made, 1) + 1;
    self->wrong_numbers += number.kind != VOW_INT || number.as.integer != made;
    if (made <= MOST) {
        self->times[made - 1] = vow_now();
    }
    if (made == self->good) {
        return vow_int(made);
    }
    return vow_error("test", made, "not yet");
}

static bool ask(vow_value error, void *context) {
    trial *self = context;
    int asked = atomic_fetch_add(&self->asked, 1) + 1;
    self->wrong_numbers += vow_error_code(error) != asked;
    return asked <= self->willing;
}

static vow_retry_policy policy_of(uint64_t attempts, int64_t first, double factor) {
    vow_retry_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.size = sizeof policy;
    policy.attempts = attempts;
    policy.first_delay_ns = first;
    policy.factor = factor;
    return policy;
}

/* As int_of and code_of: on a virtual clock a wait with a limit would use that up. */
static int64_t settled_int(vow_promise *promise) {
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_FULFILLED);
    return int_of(promise);
}

static int64_t settled_code(vow_promise *promise) {
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_REJECTED);
    return code_of(promise);
}

static int64_t between(trial *self, int attempt) {
    return self->times[attempt] - self->times[attempt - 1];
}

TEST("without a policy there are three attempts, at once") {
    trial self = {.good = 3};
    CHECK_INT_EQ(int_of(vow_retry(NULL, try_it, &self)), 3);
    trial bad = {.good = 4};
    vow_promise *promise = vow_retry(NULL, try_it, &bad);
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(out), 3);
    CHECK_STR_EQ(vow_error_domain(out), "test");
    CHECK_INT_EQ(vow_error_attempts(out), 3);
    char text[100];
    vow_value_describe(out, text, sizeof text);
    CHECK_STR_EQ(text, "error test 3: not yet (after 3 attempts)");
    vow_value_release(out);
    vow_promise_release(promise);
    CHECK_INT_EQ(self.wrong_numbers + bad.wrong_numbers, 0);
    CHECK_INT_EQ(vow_error_attempts(vow_int(3)), 0);
}

TEST("each delay is longer than the one before, up to the longest") {
    vow_loop *loop = vow_loop_create_virtual();
    trial self = {.good = 7};
    vow_retry_policy policy = policy_of(0, SECOND, 0);
    policy.max_delay_ns = 10 * SECOND;
    CHECK_INT_EQ(settled_int(vow_retry(&policy, try_it, &self)), 7);
    static const int64_t expected[6] = {1, 2, 4, 8, 10, 10};
    for (int i = 0; i < 6; i++) {
        CHECK_INT_EQ(between(&self, i + 1), expected[i] * SECOND);
    }
    trial third = {.good = 4};
    policy = policy_of(4, SECOND, 3);
    CHECK_INT_EQ(settled_int(vow_retry(&policy, try_it, &third)), 4);
    CHECK_INT_EQ(between(&third, 3), 9 * SECOND);
    trial huge = {.good = 40};
    policy = policy_of(0, SECOND, 1e300);
    policy.max_delay_ns = 2 * SECOND;
    CHECK_INT_EQ(settled_int(vow_retry(&policy, try_it, &huge)), 40);
    CHECK_INT_EQ(between(&huge, 39), 2 * SECOND);
    vow_loop_destroy(loop);
}

TEST("jitter leaves a part of each delay to chance") {
    vow_loop *loop = vow_loop_create_virtual();
    int different = 0;
    int64_t sum = 0;
    for (int part = 1; part <= 2; part++) {
        trial self = {.good = 50};
        vow_retry_policy policy = policy_of(0, SECOND, 1);
        policy.jitter = part / 2.0;
        CHECK_INT_EQ(settled_int(vow_retry(&policy, try_it, &self)), 50);
        for (int i = 1; i < 50; i++) {
            int64_t delay = between(&self, i);
            CHECK(delay >= SECOND - SECOND * part / 2 && delay <= SECOND);
            different += delay != between(&self, 1);
            sum += delay;
        }
    }
    CHECK(different > 80);
    CHECK(sum > 40 * SECOND && sum < 90 * SECOND);
    vow_loop_destroy(loop);
}

TEST("may_retry decides, on the executor of the attempts") {
    trial self = {.willing = 2};
    vow_retry_policy policy = policy_of(0, 0, 0);
    policy.may_retry = ask;
    CHECK_INT_EQ(code_of(vow_retry(&policy, try_it, &self)), 3);
    CHECK_INT_EQ(atomic_load(&self.made), 3);
    CHECK_INT_EQ(atomic_load(&self.asked), 3);
    CHECK_INT_EQ(self.wrong_numbers, 0);
}

static vow_value never(vow_value input, void *context) {
    trial *self = context;
    (void)input;
    atomic_fetch_add(&self->made, 1);
    return vow_from_promise(vow_promise_create(&self->resolver));
}

static void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static vow_value fails_then_never(vow_value input, void *context) {
    trial *self = context;
    if (input.as.integer < 3) {
        return try_it(input, context);
    }
    atomic_fetch_add(&self->made, 1);
    vow_promise *promise = vow_promise_create(&self->resolver);
    vow_resolver_on_cancel(self->resolver, note_stop, &self->asked, NULL);
    return vow_from_promise(promise);
}

TEST("at the deadline it is rejected, with the last error, and the attempt cancelled") {
    vow_loop *loop = vow_loop_create_virtual();
    trial self = {.good = 0};
    vow_retry_policy policy = policy_of(0, SECOND, 0);
    policy.deadline_ns = 60 * SECOND;
    int64_t begin = vow_now();
    vow_promise *promise = vow_retry(&policy, fails_then_never, &self);
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, &out), VOW_REJECTED);
    CHECK_INT_EQ(vow_now() - begin, 60 * SECOND);
    CHECK_INT_EQ(vow_error_code(out), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_error_attempts(out), 3);
    CHECK_INT_EQ(vow_error_code(vow_error_payload(out)), 2);
    CHECK_INT_EQ(atomic_load(&self.asked), 1);
    vow_value_release(out);
    vow_promise_release(promise);
    vow_resolver_release(self.resolver);
    /* In the middle of a delay. */
    trial slow = {.good = 0};
    policy = policy_of(0, 100 * SECOND, 0);
    policy.deadline_ns = 60 * SECOND;
    CHECK_INT_EQ(settled_code(vow_retry(&policy, try_it, &slow)), VOW_ETIMEDOUT);
    CHECK_INT_EQ(atomic_load(&slow.made), 1);
    /* In time: the deadline's timer is gone. */
    trial good = {.good = 1};
    CHECK_INT_EQ(settled_int(vow_retry(&policy, try_it, &good)), 1);
    vow_loop_destroy(loop);
}

/* An executor that keeps one piece of work until it is told to run it. */
typedef struct desk {
    void (*run)(void *work);
    void *work;
} desk;

static void put_down(void *context, void (*run)(void *work), void *work) {
    *(desk *)context = (desk){run, work};
}

static void run_what_lies_there(desk *self) {
    desk taken = *self;
    *self = (desk){NULL, NULL};
    if (CHECK(taken.run != NULL)) {
        taken.run(taken.work);
    }
}

static const vow_executor_class desk_class = {sizeof desk_class, put_down, NULL, NULL, 0};

TEST("an attempt that has not begun at the deadline is not counted") {
    vow_loop *loop = vow_loop_create_virtual();
    desk place = {NULL, NULL};
    vow_executor *executor = vow_executor_custom(&desk_class, &place);
    trial self = {.good = 0};
    vow_call call = {.size = sizeof call, .context = &self, .executor = executor};
    vow_retry_policy policy = policy_of(0, 0, 0);
    policy.deadline_ns = SECOND;
    vow_promise *promise = vow_retry_with(&policy, try_it, &call);
    run_what_lies_there(&place);
    vow_loop_advance(loop, 2 * SECOND);
    CHECK_INT_EQ(atomic_load(&self.made), 1);
    vow_value out = vow_none();
    CHECK(vow_promise_peek(promise, &out));
    CHECK_INT_EQ(vow_error_code(out), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_error_attempts(out), 1);
    vow_promise_release(promise);
    run_what_lies_there(&place);
    vow_executor_release(executor);
    vow_loop_destroy(loop);
}

TEST("cancelling it cancels the attempt, and the delay") {
    vow_loop *loop = vow_loop_create_virtual();
    trial self = {.good = 0};
    vow_promise *promise = vow_retry(NULL, never, &self);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    atomic_int stopped = 0;
    vow_resolver_on_cancel(self.resolver, note_stop, &stopped, NULL);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(atomic_load(&stopped), 1);
    vow_promise_release(promise);
    vow_resolver_release(self.resolver);
    trial delayed = {.good = 0};
    vow_retry_policy policy = policy_of(0, SECOND, 0);
    promise = vow_retry(&policy, try_it, &delayed);
    CHECK(vow_loop_advance(loop, SECOND / 2) > 0);
    CHECK_INT_EQ(atomic_load(&delayed.made), 1);
    CHECK(vow_cancel(promise));
    vow_promise_release(promise);
    CHECK_INT_EQ(vow_loop_advance(loop, 1000 * SECOND), 0);
    CHECK_INT_EQ(atomic_load(&delayed.made), 1);
    vow_loop_destroy(loop);
}

TEST("an executor that refuses work ends the attempts") {
    vow_loop *loop = vow_loop_create_virtual();
    trial self = {.good = 0};
    vow_retry_policy policy = policy_of(0, 0, 0);
    vow_promise *promise = vow_retry(&policy, never, &self);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(code_of(promise), VOW_ESHUTDOWN);
    CHECK_INT_EQ(atomic_load(&self.made), 0);
}

TEST("wrong arguments") {
    trial self = {.good = 1};
    vow_handler no_handler = NULL;
    CHECK_INT_EQ(code_of(vow_retry(NULL, no_handler, &self)), VOW_EINVAL);
    for (int wrong = 0; wrong < 8; wrong++) {
        vow_retry_policy policy = policy_of(1, 0, 0);
        switch (wrong) {
        case 0:
            policy.size = 0;
            break;
        case 1:
            policy.first_delay_ns = -1;
            break;
        case 2:
            policy.factor = -1;
            break;
        case 3:
            policy.factor = 1e308 * 10;
            break;
        case 4:
            policy.max_delay_ns = -1;
            break;
        case 5:
            policy.jitter = 1.5;
            break;
        case 6:
            policy.jitter = -0.5;
            break;
        default:
            policy.deadline_ns = -1;
            break;
        }
        CHECK_INT_EQ(code_of(vow_retry(&policy, try_it, &self)), VOW_EINVAL);
    }
    CHECK_INT_EQ(atomic_load(&self.made), 0);
}

TEST("very often, in constant memory, on the pool and inline") {
    for (int inlined = 0; inlined < 2; inlined++) {
        if (inlined) {
            vow_executor_set_default(vow_executor_inline());
        }
        trial self = {.good = 100000};
        vow_retry_policy policy = policy_of(0, 0, 0);
        CHECK_INT_EQ(int_of(vow_retry(&policy, try_it, &self)), 100000);
        CHECK_INT_EQ(self.wrong_numbers, 0);
        vow_executor_set_default(NULL);
    }
}

TEST("deadlines that pass while attempts end") {
    for (int round = 0; round < 300; round++) {
        vow_statistics before = harness_stats();
        trial self = {.good = 0};
        vow_retry_policy policy = policy_of(0, round % 3 * 1000, 1);
        policy.deadline_ns = round * 1000 + 1;
        CHECK_INT_EQ(code_of(vow_retry(&policy, try_it, &self)), VOW_ETIMEDOUT);
        harness_gate(&before);
    }
}

TEST("without memory the promise is rejected and nothing is lost") {
    vow_executor_set_default(vow_executor_inline());
    for (int nth = 1;; nth++) {
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, nth);
        trial self = {.good = 3, .willing = 5};
        vow_retry_policy policy = policy_of(4, 1000, 0);
        policy.may_retry = ask;
        policy.deadline_ns = 30 * SECOND;
        vow_promise *promise = vow_retry(&policy, try_it, &self);
        CHECK(vow_await(promise, LONG_ENOUGH, NULL) > 0);
        vow_promise_release(promise);
        atomic_store(&counts.countdown, 0);
        if (atomic_load(&counts.failed) == 0) {
            break;
        }
    }
    vow_executor_set_default(NULL);
}
