/* Tests what becomes of fibers whose loop, executor or process ends, and of fibers that end it. */
#include "child.h"
#include "dispatch.h"
#include "fiber_tools.h"
#include "small_stack.h"

#include <sys/resource.h>

/* Waits three times; the answers and the codes stay. */
static vow_value wait_thrice(vow_value input, void *context) {
    held *self = context;
    (void)input;
    for (int i = 0; i < 3; i++) {
        held_wait(self, i);
    }
    return vow_int(2);
}

static void check_answer(held *self, int number, int64_t answer, int64_t code) {
    CHECK_INT_EQ(self->answers[number], answer);
    CHECK_INT_EQ(self->codes[number], code);
}

TEST("a fiber whose loop was destroyed goes on where its promise settles, and waits no more") {
    vow_loop *loop = vow_loop_create();
    held self;
    held_make(&self, vow_executor_retain(vow_loop_executor(loop)));
    vow_resolver *never;
    vow_promise *pending = vow_promise_create(&never);
    vow_promise *fiber = fiber_counted(self.executor, wait_thrice, &self, NULL);
    come_to_rest(self.executor);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(vow_promise_state(fiber), VOW_PENDING);
    vow_promise *awaited = self.promise;
    CHECK(vow_cancel(fiber));
    CHECK_INT_EQ(vow_promise_state(fiber), VOW_REJECTED);
    CHECK_INT_EQ(outcome_of(fiber), VOW_ECANCELLED);
    CHECK_INT_EQ(self.answers[0], VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    CHECK(self.promise == awaited);
    vow_promise_release(pending);
    vow_resolver_release(never);
    held_end(&self);
    vow_executor_release(self.executor);
}

typedef struct pair {
    held at;
    held other;
} pair;

/* Waits for the first promise, and then for the other. */
static vow_value wait_for_both(vow_value input, void *context) {
    pair *self = context;
    (void)input;
    held_wait(&self->at, 0);
    held_wait(&self->other, 0);
    CHECK_INT_EQ(vow_fiber_yield(), 0);
    self->other.answers[1] = vow_await(self->other.promise, MILLISECOND, NULL);
    self->other.answers[2] = vow_await(self->other.promise, 0, NULL);
    return vow_int(6);
}

TEST("the wait that its loop's end met has its value; later ones answer VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    pair self;
    held_make(&self.at, vow_executor_retain(vow_loop_executor(loop)));
    held_make(&self.other, NULL);
    vow_promise *fiber = fiber_counted(self.at.executor, wait_for_both, &self, NULL);
    come_to_rest(self.at.executor);
    vow_loop_destroy(loop);
    CHECK(vow_resolve(self.at.resolver, vow_int(9)));
    CHECK_INT_EQ(outcome_of(fiber), 6);
    check_answer(&self.at, 0, VOW_FULFILLED, 9);
    check_answer(&self.other, 0, VOW_ESHUTDOWN, 0);
    CHECK_INT_EQ(self.other.answers[1], VOW_ESHUTDOWN);
    CHECK_INT_EQ(self.other.answers[2], VOW_PENDING);
    CHECK_INT_EQ(atomic_load(&self.at.of.ends), 1);
    vow_executor_release(self.at.executor);
    held_end(&self.at);
    held_end(&self.other);
}

static vow_value take_for_an_hour(vow_value input, void *context) {
    held *self = context;
    vow_promise *promise = self->promise;
    (void)input;
    self->promise = NULL;
    self->answers[0] = vow_take(promise, HOUR, NULL);
    return vow_int(self->answers[0] == VOW_ESHUTDOWN);
}

TEST("a wait with a time-out ends with the loop, before vow_loop_destroy returns") {
    for (int i = 0; i < 2; i++) {
        vow_loop *loop = i == 0 ? vow_loop_create() : vow_loop_create_virtual();
        held self, unbegun;
        held_make(&self, vow_loop_executor(loop));
        held_make(&unbegun, vow_loop_executor(loop));
        vow_promise *fiber = fiber_counted(self.executor, take_for_an_hour, &self, NULL);
        come_to_rest(self.executor);
        vow_promise *late = fiber_counted(self.executor, wait_thrice, &unbegun, NULL);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(vow_promise_state(fiber), VOW_FULFILLED);
        CHECK_INT_EQ(outcome_of(fiber), 1);
        CHECK_INT_EQ(atomic_load(&self.told.runs), 1);
        CHECK_INT_EQ(vow_promise_state(late), VOW_REJECTED);
        CHECK_INT_EQ(outcome_of(late), VOW_ESHUTDOWN);
        CHECK_INT_EQ(atomic_load(&unbegun.of.ends), 1);
        CHECK_INT_EQ(atomic_load(&unbegun.entered), 0);
        held_end(&self);
        held_end(&unbegun);
    }
}

typedef struct own_loop {
    vow_loop *loop;
    held at;
} own_loop;

static vow_value destroy_own_loop(vow_value input, void *context) {
    own_loop *self = context;
    (void)input;
    CHECK_INT_EQ(outcome_of(vow_async(NULL, add_one, NULL)), 1);
    vow_loop_destroy(self->loop);
    held_wait(&self->at, 0);
    CHECK_INT_EQ(outcome_of(fulfilled_int(3)), 3);
    return vow_int(5);
}

TEST("a fiber destroys its own loop: it goes on, and the function that runs the loop says so") {
    own_loop self = {.loop = vow_loop_create()};
    held_make(&self.at, NULL);
    vow_promise *fiber = fiber_on(vow_loop_executor(self.loop), destroy_own_loop, &self);
    CHECK_INT_EQ(vow_loop_run_until(self.loop, fiber, VOW_FOREVER), VOW_ESHUTDOWN);
    vow_resolve(self.at.resolver, vow_int(1));
    CHECK_INT_EQ(outcome_of(fiber), 5);
    CHECK(self.at.answers[0] == VOW_ESHUTDOWN || self.at.answers[0] == (int)VOW_FULFILLED);
    held_end(&self.at);
}

static vow_value wait_once(vow_value input, void *context) {
    (void)input;
    held_wait(context, 0);
    CHECK_INT_EQ(outcome_of(vow_async(NULL, add_one, NULL)), 1);
    return vow_int(1);
}

TEST("a fiber keeps its executor, whose last reference it may have") {
    worker thread;
    worker_start(&thread);
    void *queue = dispatch_queue_create("vow.fibers", QUEUE_SERIAL);
    vow_executor *executors[3] = {vow_executor_serial("kept"),
                                  vow_executor_custom(&worker_class, &thread),
                                  vow_executor_dispatch(queue, VOW_SERIAL)};
    dispatch_release(queue);
    for (int i = 0; i < 3; i++) {
        held self;
        held_make(&self, NULL);
        vow_promise *fiber = fiber_counted(executors[i], wait_once, &self, NULL);
        CHECK(reaches(&self.entered, 1));
        vow_executor_release(executors[i]);
        CHECK_INT_EQ(atomic_load(&thread.destroyed), 0);
        CHECK(vow_resolve(self.resolver, vow_int(1)));
        CHECK_INT_EQ(outcome_of(fiber), 1);
        CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
        held_end(&self);
        if (i == 1) {
            CHECK(reaches(&thread.destroyed, 1));
        }
        atomic_store(&thread.destroyed, 0);
    }
    worker_stop(&thread);
}

/* Fibers that wait when the process forks: on a serial executor, inline, and on the pool. The last
 * may still be on its thread, which the child has not. */
typedef struct parted {
    held on[3];
    vow_promise *fibers[3];
} parted;

static void parted_make(parted *self, vow_executor *serial) {
    vow_executor *executors[3] = {serial, vow_executor_inline(), vow_executor_pool()};
    for (int i = 0; i < 3; i++) {
        held_make(&self->on[i], NULL);
        self->fibers[i] = fiber_counted(executors[i], wait_thrice, &self->on[i], NULL);
        CHECK(reaches(&self->on[i].entered, 1));
    }
    come_to_rest(serial);
}

static void parted_end(parted *self) {
    for (int i = 0; i < 3; i++) {
        CHECK(vow_resolve(self->on[i].resolver, vow_int(4)));
        CHECK_INT_EQ(outcome_of(self->fibers[i]), 2);
        check_answer(&self->on[i], 0, VOW_FULFILLED, 4);
        CHECK_INT_EQ(atomic_load(&self->on[i].of.ends), 1);
        held_end(&self->on[i]);
    }
}

static void resolve_in_child(void *context) {
    parted *self = context;
    for (int i = 0; i < 3; i++) {
        vow_resolve(self->on[i].resolver, vow_int(7));
        if (i == 2 && vow_promise_state(self->fibers[i]) == VOW_PENDING) {
            break;
        }
        check_answer(&self->on[i], 0, VOW_FULFILLED, 7);
        check_answer(&self->on[i], 2, VOW_FULFILLED, 7);
        CHECK_INT_EQ(atomic_load(&self->on[i].of.ends), 1);
        CHECK_INT_EQ(vow_promise_state(self->fibers[i]), VOW_FULFILLED);
    }
}

TEST(
    "in a forked child a suspended fiber goes on where its promise is resolved; so in the parent") {
    parted self;
    vow_executor *serial = vow_executor_serial("parted");
    parted_make(&self, serial);
    fork_part(resolve_in_child, &self);
    CHECK_INT_EQ(atomic_load(&self.on[0].of.ends), 0);
    parted_end(&self);
    vow_executor_release(serial);
}

static void cancel_in_child(void *context) {
    parted *self = context;
    for (int i = 0; i < 3; i++) {
        CHECK(vow_cancel(self->fibers[i]));
        CHECK_INT_EQ(vow_promise_state(self->fibers[i]), VOW_REJECTED);
        CHECK_INT_EQ(outcome_of(self->fibers[i]), VOW_ECANCELLED);
    }
    for (int i = 0; i < 3; i++) {
        vow_resolve(self->on[i].resolver, vow_int(7));
        CHECK(i == 2 || atomic_load(&self->on[i].of.ends) == 1);
    }
    CHECK_INT_EQ(self->on[1].answers[0], VOW_REJECTED);
    CHECK_INT_EQ(self->on[1].codes[2], VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self->on[1].of.ends), 1);
}

TEST("a child cancels fibers that were suspended at the fork, and the parent's go on") {
    parted self;
    vow_executor *serial = vow_executor_serial("parted");
    parted_make(&self, serial);
    fork_part(cancel_in_child, &self);
    parted_end(&self);
    vow_executor_release(serial);
}

static void wait_in_child(void *context) {
    parted *self = context;
    for (int i = 0; i < 3; i += 2) {
        CHECK_INT_EQ(vow_await(self->fibers[i], 0, NULL), VOW_PENDING);
        int answer = vow_await(self->fibers[i], 50 * MILLISECOND, NULL);
        CHECK(answer == VOW_EFORKED || answer == (int)VOW_PENDING);
    }
    CHECK_INT_EQ(outcome_of(fiber_on(vow_executor_pool(), add_one, NULL)), VOW_EFORKED);
    CHECK_INT_EQ(outcome_of(fiber_on(vow_executor_inline(), add_one, NULL)), 1);
    vow_loop *loop = vow_loop_create();
    held own;
    held_make(&own, vow_loop_executor(loop));
    vow_promise *fiber = fiber_counted(own.executor, wait_once, &own, NULL);
    come_to_rest(own.executor);
    CHECK(vow_resolve(own.resolver, vow_int(1)));
    CHECK_INT_EQ(outcome_of(fiber), 1);
    CHECK_INT_EQ(atomic_load(&own.of.ends), 1);
    held_end(&own);
    vow_loop_destroy(loop);
}

TEST("a child waits for the parent's fibers without end nowhere, and runs fibers of its own") {
    parted self;
    vow_executor *serial = vow_executor_serial("parted");
    parted_make(&self, serial);
    fork_part(wait_in_child, &self);
    parted_end(&self);
    vow_executor_release(serial);
}

static vow_value wait_for_fork(vow_value input, void *context) {
    held *self = context;
    int status = -1;
    (void)input;
    held_wait(self, 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        bool is_good = outcome_of(fiber_on(vow_executor_inline(), add_one, NULL)) == 1 &&
                       vow_await(self->fiber, 0, NULL) == (int)VOW_PENDING &&
                       outcome_of(vow_async(vow_executor_pool(), add_one, NULL)) == VOW_EFORKED;
        _exit(is_good ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    held_wait(self, 1);
    return vow_int(status);
}

static void fork_inside(const ground *on) {
    held self;
    held_make(&self, on->executor);
    vow_promise *fiber = vow_fiber(on->executor, wait_for_fork, &self,
                                   &(vow_fiber_options){.size = sizeof(vow_fiber_options)});
    self.fiber = fiber;
    CHECK(vow_resolve(self.resolver, vow_int(1)));
    CHECK_INT_EQ(outcome_of(vow_promise_retain(fiber)), 0);
    vow_promise_release(fiber);
    held_end(&self);
}

TEST("a fiber forks: the child goes on in it, and runs fibers inline") {
    on_each_executor(fork_inside);
}

/* Writes below the end of the stack. */
static __attribute__((noinline)) int64_t use_without_end(int64_t depth) {
    volatile char room[512];
    room[depth % 512] = 1;
    return depth < 1000000 ? use_without_end(depth + 1) + room[depth % 512] : 0;
}

static vow_value overflow(vow_value input, void *context) {
    (void)input;
    (void)context;
    CHECK_INT_EQ(vow_fiber_yield(), 0);
    CHECK_INT_EQ(outcome_of(vow_async(NULL, add_one, NULL)), 1);
    return vow_int(use_without_end(0));
}

static const char *label_of_overflow;

static void *run_overflow(void *context) {
    vow_fiber_options options = {.size = sizeof options, .label = label_of_overflow};
    outcome_of(vow_fiber(vow_executor_inline(), overflow, context, &options));
    return NULL;
}

static void run_overflow_on_loop(void) {
    vow_loop *loop = vow_loop_create();
    vow_fiber_options options = {.size = sizeof options, .label = label_of_overflow};
    outcome_of(vow_fiber(vow_loop_executor(loop), overflow, NULL, &options));
}

/* Runs a fiber that needs too much stack in a child. What that says on standard error. */
static void die_of_overflow(int number, char *said, size_t size) {
    int ends[2];
    int status = 0;
    CHECK_INT_EQ(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(ends[1], 2);
        if (number == 0) {
            run_overflow(NULL);
        } else if (number == 1) {
            run_overflow_on_loop();
        } else {
            pthread_join(start_thread(run_overflow, NULL), NULL);
        }
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t count;
    while (length + 1 < size && (count = read(ends[0], said + length, size - 1 - length)) > 0) {
        length += (size_t)count;
    }
    said[length] = 0;
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    /* A sanitizer's runtime handles the signal itself. */
    if (SMALL_STACK == 65536) {
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
}

TEST("a fiber that needs more stack than it has ends the process, and its label is said") {
    static const char *const labels[2] = {"a greedy fiber", NULL};
    static char said[1 << 18];
    for (int number = 0; number < 6; number++) {
        label_of_overflow = labels[number % 2];
        die_of_overflow(number / 2, said, sizeof said);
        if (SMALL_STACK == 65536) {
            CHECK_STR_EQ(said,
                         number % 2 == 0
                             ? "vow: a fiber needs more stack than it has: a greedy fiber\n"
                             : "vow: a fiber needs more stack than it has: it has no label\n");
        }
    }
}

TEST("a signal SIGSEGV that a process sends itself ends it, though fibers ran before") {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        outcome_of(fiber_on(vow_executor_inline(), add_one, NULL));
        raise(SIGSEGV);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static vow_value fault(vow_value input, void *context) {
    (void)input;
    vow_fiber_yield();
    *(volatile int *)context = 1;
    return vow_none();
}

TEST("a fault of a fiber elsewhere ends the process, and is not called an overflow") {
    int ends[2];
    int status = 0;
    char said[16];
    CHECK_INT_EQ(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (SMALL_STACK == 65536) {
            dup2(ends[1], 2);
        }
        outcome_of(fiber_on(vow_executor_inline(), fault, (void *)(uintptr_t)16));
        _exit(0);
    }
    close(ends[1]);
    CHECK_INT_EQ(read(ends[0], said, sizeof said), 0);
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

/* The last test, for the shutdown is for good. */
TEST("vow_shutdown ends timed waits of fibers; the others go on where their promises settle") {
    held waiting[2], timed, queued;
    vow_executor *serial = vow_executor_serial("shut down");
    for (int i = 0; i < 2; i++) {
        held_make(&waiting[i], NULL);
        waiting[i].fiber =
            fiber_counted(i == 0 ? vow_executor_pool() : serial, wait_thrice, &waiting[i], NULL);
        CHECK(reaches(&waiting[i].entered, 1));
    }
    held_make(&timed, NULL);
    vow_promise *hour = fiber_counted(serial, take_for_an_hour, &timed, NULL);
    come_to_rest(serial);
    held_make(&queued, NULL);
    CHECK(vow_shutdown(VOW_FOREVER) > 0);
    CHECK_INT_EQ(outcome_of(hour), 1);
    CHECK_INT_EQ(atomic_load(&timed.of.ends), 1);
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(vow_promise_state(waiting[i].fiber), VOW_PENDING);
        CHECK(vow_resolve(waiting[i].resolver, vow_int(3)));
        CHECK_INT_EQ(outcome_of(waiting[i].fiber), 2);
        check_answer(&waiting[i], 0, VOW_FULFILLED, 3);
        CHECK_INT_EQ(atomic_load(&waiting[i].of.ends), 1);
        held_end(&waiting[i]);
    }
    CHECK_INT_EQ(outcome_of(fiber_counted(serial, wait_thrice, &queued, NULL)), VOW_ESHUTDOWN);
    CHECK_INT_EQ(atomic_load(&queued.of.ends), 1);
    CHECK_INT_EQ(outcome_of(fiber_on(vow_executor_inline(), add_one, NULL)), 1);
    held_end(&timed);
    held_end(&queued);
    vow_executor_release(serial);
    CHECK_INT_EQ(vow_shutdown(0), 0);
}
