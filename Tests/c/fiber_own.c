/* Tests what is a fiber's own across its waits, its stack, context, progress and rounding mode; and
 * the waits inside a fiber that block its thread. */
#include "dispatch.h"
#include "fiber_tools.h"
#include "loop_tools.h"
#include "small_stack.h"

/* Calls itself until so many bytes of the stack are in use. */
static __attribute__((noinline)) int64_t use_stack(uintptr_t top, size_t bytes) {
    volatile char room[200];
    room[bytes % sizeof room] = 1;
    if (top - (uintptr_t)__builtin_frame_address(0) >= bytes) {
        return room[bytes % sizeof room];
    }
    return use_stack(top, bytes) + room[bytes % sizeof room];
}

static vow_value use_most(vow_value input, void *context) {
    size_t size = *(size_t *)context;
    (void)input;
    uintptr_t top = (uintptr_t)__builtin_frame_address(0);
    CHECK(use_stack(top, size) > 0);
    CHECK_INT_EQ(outcome_of(vow_async(NULL, add_one, NULL)), 1);
    CHECK(use_stack(top, size) > 0);
    return vow_int((int64_t)size);
}

static void use_stacks(const ground *on) {
    static const size_t sizes[] = {0, 1, 16384, 20000, 65536, 65537, 1 << 20, 5 << 20, 1 << 30};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        vow_fiber_options options = {.size = sizeof options, .stack = sizes[i]};
        size_t bytes = sizes[i] == 0 ? 65536 : sizes[i] < 16384 ? 16384 : sizes[i];
        /* The library's own frames are larger in a sanitized program. */
        bytes = (bytes > 8 << 20 ? 8 << 20 : bytes) - 8192;
        CHECK_INT_EQ(outcome_of(vow_fiber(on->executor, use_most, &bytes, &options)), bytes);
    }
}

TEST("a fiber has the stack that it was promised, of any size, before a wait and after it") {
    on_each_executor(use_stacks);
}

typedef struct traveller {
    held *at;
    int number;
    int64_t found[3];
} traveller;

static vow_value travel(vow_value input, void *context) {
    traveller *self = context;
    (void)input;
    self->found[0] = vow_context_get().as.integer;
    held_wait(self->at, 0);
    self->found[1] = vow_context_get().as.integer;
    vow_context_set(vow_int(self->number + 100));
    for (int i = 0; i < 5; i++) {
        vow_fiber_yield();
    }
    CHECK_INT_EQ(outcome_of(vow_delay(1000)), VOW_FULFILLED);
    self->found[2] = vow_context_get().as.integer;
    return vow_none();
}

static void keep_context(const ground *on) {
    held at;
    traveller each[10];
    vow_promise *ends[10];
    held_make(&at, on->executor);
    for (int i = 0; i < 10; i++) {
        each[i] = (traveller){&at, i, {0}};
        vow_context_set(vow_int(i));
        ends[i] = fiber_on(on->executor, travel, &each[i]);
    }
    vow_context_set(vow_int(77));
    CHECK(vow_resolve(at.resolver, vow_none()));
    for (int i = 0; i < 10; i++) {
        CHECK_INT_EQ(outcome_of(ends[i]), VOW_FULFILLED);
        CHECK_INT_EQ(each[i].found[0], i);
        CHECK_INT_EQ(each[i].found[1], i);
        CHECK_INT_EQ(each[i].found[2], i + 100);
    }
    CHECK_INT_EQ(vow_context_get().as.integer, 77);
    vow_context_set(vow_none());
    held_end(&at);
}

TEST("the context of chapter 11 is a fiber's own, whatever runs while it waits") {
    on_each_executor(keep_context);
}

static vow_value drop_context(vow_value input, void *context) {
    (void)input;
    vow_context_set(vow_object(context, &counter_class));
    CHECK_INT_EQ(outcome_of(vow_delay(1000)), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&((counter *)context)->ends), 0);
    return vow_none();
}

static void end_context(const ground *on) {
    counter object = {0};
    vow_promise *fiber = fiber_on(on->executor, drop_context, &object);
    CHECK_INT_EQ(vow_await(fiber, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    vow_promise_release(fiber);
}

TEST("a context that a fiber has set lives across its waits and ends before its promise settles") {
    on_each_executor(end_context);
}

typedef struct heard {
    atomic_int calls;
    double last;
} heard;

static void hear(double fraction, const char *note, void *context) {
    heard *self = context;
    (void)note;
    self->last = fraction;
    atomic_fetch_add(&self->calls, 1);
}

static vow_value report_after_wait(vow_value input, void *context) {
    (void)input;
    held_wait(context, 0);
    CHECK_INT_EQ(vow_current_set_progress(1, "done"), 0);
    return vow_none();
}

static void report_progress(const ground *on) {
    held self;
    heard all = {0};
    held_make(&self, on->executor);
    vow_promise *fiber = fiber_on(on->executor, report_after_wait, &self);
    vow_call call = {.size = sizeof call, .context = &all, .executor = vow_executor_inline()};
    CHECK_INT_EQ(vow_on_progress_with(fiber, 0, hear, &call), 0);
    CHECK(vow_resolve(self.resolver, vow_none()));
    CHECK_INT_EQ(vow_await(fiber, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK(reaches(&all.calls, 1));
    CHECK(all.last == 1);
    vow_promise_release(fiber);
    held_end(&self);
}

TEST("a fiber that has waited reports the progress of its own promise") {
    on_each_executor(report_progress);
}

static vow_value run_other_loop(vow_value input, void *context) {
    vow_loop *other = vow_loop_create();
    (void)input;
    (void)context;
    vow_promise *work = vow_async(vow_loop_executor(other), add_one, NULL);
    CHECK_INT_EQ(vow_loop_run_until(other, work, VOW_FOREVER), VOW_FULFILLED);
    CHECK_INT_EQ(outcome_of(work), 1);
    vow_loop_destroy(other);
    return vow_none();
}

static void run_other(const ground *on) {
    CHECK_INT_EQ(outcome_of(fiber_on(on->executor, run_other_loop, NULL)), VOW_FULFILLED);
}

TEST("a fiber runs a loop of its own making as a handler does") {
    on_each_executor(run_other);
}

/* An object whose destructor waits for a promise. */
static void wait_in_destructor(void *pointer) {
    held_wait(pointer, 1);
}

static const vow_class waiting_class = {sizeof(vow_class), "waiting", wait_in_destructor, NULL};

static vow_value release_waiting(vow_value input, void *context) {
    held *self = context;
    (void)input;
    pthread_t thread = pthread_self();
    vow_value_release(vow_object(self, &waiting_class));
    CHECK(pthread_equal(pthread_self(), thread));
    CHECK_INT_EQ(outcome_of(vow_async(self->executor, add_one, NULL)), 1);
    return vow_none();
}

static void block_in_destructor(const ground *on) {
    held self;
    held_make(&self, on->executor);
    pthread_t thread = start_thread(resolve_when_entered, &self);
    CHECK_INT_EQ(outcome_of(fiber_on(on->executor, release_waiting, &self)), VOW_FULFILLED);
    CHECK_INT_EQ(self.answers[1], VOW_FULFILLED);
    CHECK_INT_EQ(self.codes[1], 5);
    pthread_join(thread, NULL);
    held_end(&self);
}

TEST("a wait in a destructor inside a fiber's call blocks the thread, and the fiber goes on") {
    on_each_executor(block_in_destructor);
}

static vow_value refuse_in_destructor(vow_value input, void *context) {
    held *self = context;
    (void)input;
    self->promise = vow_async(self->executor, add_one, NULL);
    vow_value_release(vow_object(self, &waiting_class));
    CHECK_INT_EQ(self->answers[1], VOW_EDEADLOCK);
    return vow_int(outcome_of(self->promise));
}

TEST("that wait is refused where it would block the executor that it needs") {
    held self = {.executor = vow_executor_serial("refused")};
    CHECK_INT_EQ(outcome_of(fiber_on(self.executor, refuse_in_destructor, &self)), 1);
    vow_executor_release(self.executor);
}

/* The rounding of floating-point numbers, 0 to 3: <fenv.h> would need another library. */
static unsigned int rounding(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() >> 13 & 3;
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned int)(control >> 22 & 3);
#else
    return 0;
#endif
}

static void set_rounding(unsigned int mode) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~(3u << 13)) | mode << 13);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)mode << 22));
#else
    (void)mode;
#endif
}

static vow_value round_upwards(vow_value input, void *context) {
    unsigned int mode = *(unsigned int *)context;
    (void)input;
    CHECK_INT_EQ(rounding(), 0);
    set_rounding(mode);
    for (int i = 0; i < 10; i++) {
        vow_fiber_yield();
        CHECK_INT_EQ(rounding(), mode);
        CHECK_INT_EQ(outcome_of(vow_async(vow_executor_pool(), add_one, NULL)), 1);
        CHECK_INT_EQ(rounding(), mode);
    }
    return vow_none();
}

static void keep_rounding(const ground *on) {
    unsigned int numbers[8];
    vow_promise *ends[8];
    for (int i = 0; i < 8; i++) {
        numbers[i] = (unsigned int)i % 4;
        ends[i] = fiber_on(on->executor, round_upwards, &numbers[i]);
        CHECK_INT_EQ(rounding(), 0);
    }
    CHECK_INT_EQ(outcome_of(vow_all(ends, 8)), VOW_FULFILLED);
    CHECK_INT_EQ(rounding(), 0);
}

TEST("a fiber keeps its rounding mode, and its thread and other fibers keep theirs") {
    on_each_executor(keep_rounding);
}

/* A chain of fibers, each of which waits for the one before. */
typedef struct chained {
    vow_promise *before;
} chained;

static vow_value add_to_before(vow_value input, void *context) {
    chained *self = context;
    (void)input;
    return vow_int(outcome_of(vow_promise_retain(self->before)) + 1);
}

static void *wait_in_chain(void *context) {
    int count = many_of(20000, 20000);
    chained *all = calloc((size_t)count + 1, sizeof *all);
    vow_resolver *resolver;
    (void)context;
    all[0].before = vow_promise_create(&resolver);
    for (int i = 0; i < count; i++) {
        all[i + 1].before = fiber_on(vow_executor_inline(), add_to_before, &all[i]);
    }
    CHECK(vow_resolve(resolver, vow_int(0)));
    CHECK_INT_EQ(outcome_of(vow_promise_retain(all[count].before)), count);
    for (int i = 0; i <= count; i++) {
        vow_promise_release(all[i].before);
    }
    vow_resolver_release(resolver);
    free(all);
    return NULL;
}

TEST("inline fibers that wait for each other go on one after the other, with constant stack") {
    on_small_stack(wait_in_chain, NULL);
}

typedef struct deep_run {
    vow_loop *loop;
    int depth;
    int64_t answer;
} deep_run;

static vow_value run_deeper(vow_value input, void *context) {
    deep_run *self = context;
    (void)input;
    if (self->depth++ < 1000000) {
        vow_promise_release(vow_async(NULL, run_deeper, self));
        int answer = vow_loop_run_once(self->loop, VOW_FOREVER);
        if (answer == VOW_EDEADLOCK) {
            self->answer = answer;
            self->depth = 1000000;
        }
    }
    return vow_none();
}

static vow_value run_loop_inside(vow_value input, void *context) {
    deep_run *self = context;
    (void)input;
    vow_promise *work = vow_async(NULL, run_deeper, self);
    while (vow_promise_state(work) == VOW_PENDING && self->answer == 0) {
        CHECK(vow_loop_run_once(self->loop, VOW_FOREVER) > 0);
    }
    vow_promise_release(work);
    return vow_none();
}

TEST("runs of a loop nested on a fiber's stack end where that does, with VOW_EDEADLOCK") {
    rlim_t before;
    limit_stacks(1 << 20, &before);
    vow_loop *loop = vow_loop_create();
    deep_run self = {.loop = loop};
    CHECK_INT_EQ(outcome_of(fiber_on(NULL, run_loop_inside, &self)), VOW_FULFILLED);
    CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    vow_loop_destroy(loop);
    limit_stacks(before, NULL);
}

static void wait_and_end(void *context) {
    counter_end(context);
    held_wait(context, 3);
}

static void wait_in_destroy(const ground *on) {
    held self;
    held_make(&self, on->executor);
    vow_fiber_options options = {.size = sizeof options, .destroy = wait_and_end};
    pthread_t thread = start_thread(resolve_when_entered, &self);
    CHECK_INT_EQ(outcome_of(vow_fiber(on->executor, add_one, &self, &options)), 1);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(self.answers[3], VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    held_end(&self);
}

TEST("the destroy of a fiber's context may wait, before the fiber's promise settles") {
    on_each_executor(wait_in_destroy);
}

static vow_value use_40_kilobytes(vow_value input, void *context) {
    volatile char used[40 << 10];
    (void)input;
    for (size_t i = 0; i < sizeof used; i += 1024) {
        used[i] = (char)i;
    }
    vow_statistics now = {.size = sizeof now};
    CHECK_INT_EQ(vow_stats(&now), 0);
    *(uint64_t *)context = now.stacks;
    return vow_int(used[1024]);
}

TEST("the statistics count stacks in use, and say how much of a stack a fiber has used") {
    vow_statistics before = {.size = sizeof before}, after = before;
    uint64_t inside = 0;
    CHECK_INT_EQ(vow_stats(&before), 0);
    CHECK_INT_EQ(outcome_of(fiber_on(vow_executor_inline(), use_40_kilobytes, &inside)), 0);
    CHECK_INT_EQ(vow_stats(&after), 0);
    CHECK_INT_EQ(inside, before.stacks + 1);
    CHECK_INT_EQ(after.stacks, before.stacks);
    CHECK(after.deepest >= 40 << 10);
}
