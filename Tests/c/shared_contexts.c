/* Tests that every function that keeps a context has a form that frees it: of the hook of unhandled
 * rejections, of vow_catch_if, of listeners; and boxes, which several links share. */
#include "worker.h"

#include <semaphore.h>

static bool ran(counter *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->runs), runs) && CHECK_INT_EQ(atomic_load(&of->ends), ends);
}

static vow_promise *rejected(int64_t code) {
    return vow_promise_with(vow_error("test", code, "rejected"));
}

static void count_report(vow_value error, void *context) {
    (void)error;
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

TEST("the context of the hook of unhandled rejections is destroyed when the hook is replaced") {
    counter first = {0}, second = {0};
    CHECK_INT_EQ(vow_on_unhandled_with(count_report, &first, counter_end), 0);
    vow_promise_release(rejected(1));
    ran(&first, 1, 0);
    CHECK_INT_EQ(vow_on_unhandled_with(count_report, &second, counter_end), 0);
    ran(&first, 1, 1);
    vow_promise_release(rejected(2));
    ran(&second, 1, 0);
    vow_on_unhandled(NULL, NULL);
    ran(&second, 1, 1);
    ran(&first, 1, 1);
    CHECK_INT_EQ(vow_on_unhandled_with(count_report, &first, NULL), 0);
    vow_on_unhandled(NULL, NULL);
}

TEST("a hook that is refused destroys its context, and the one before stays") {
    counter kept = {0}, refused = {0};
    void (*no_hook)(vow_value, void *) = NULL;
    CHECK_INT_EQ(vow_on_unhandled_with(count_report, &kept, counter_end), 0);
    CHECK_INT_EQ(vow_on_unhandled_with(no_hook, &refused, counter_end), VOW_EINVAL);
    ran(&refused, 0, 1);
    vow_promise_release(rejected(1));
    ran(&kept, 1, 0);
    vow_on_unhandled(NULL, NULL);
    ran(&kept, 1, 1);
}

typedef struct slow {
    counter count;
    sem_t begun, may_end;
} slow;

static void report_slowly(vow_value error, void *context) {
    slow *self = context;
    count_report(error, &self->count);
    sem_post(&self->begun);
    while (sem_wait(&self->may_end) != 0) {
    }
    CHECK_INT_EQ(atomic_load(&self->count.ends), 0);
}

static void end_slowly(void *context) {
    counter_end(&((slow *)context)->count);
}

static void *drop_rejection(void *context) {
    (void)context;
    vow_promise_release(rejected(1));
    return NULL;
}

TEST("a hook that is replaced while it runs keeps its context until it has returned") {
    slow self = {0};
    sem_init(&self.begun, 0, 0);
    sem_init(&self.may_end, 0, 0);
    CHECK_INT_EQ(vow_on_unhandled_with(report_slowly, &self, end_slowly), 0);
    pthread_t thread = start_thread(drop_rejection, NULL);
    while (sem_wait(&self.begun) != 0) {
    }
    vow_on_unhandled(NULL, NULL);
    ran(&self.count, 1, 0);
    sem_post(&self.may_end);
    pthread_join(thread, NULL);
    ran(&self.count, 1, 1);
}

static vow_value recover(vow_value error, void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
    return vow_int(vow_error_code(error));
}

static vow_call call_of(counter *context) {
    return (vow_call){.size = sizeof(vow_call), .context = context, .destroy = counter_end};
}

TEST("vow_catch_if_with destroys its context once, whether its function runs or not") {
    counter matches = {0}, other = {0}, passed = {0}, refused = {0};
    vow_call call = call_of(&matches);
    call.executor = vow_executor_inline();
    CHECK_INT_EQ(int_of(vow_catch_if_with(rejected(3), "test", 3, recover, &call)), 3);
    ran(&matches, 1, 1);
    call = call_of(&other);
    CHECK_INT_EQ(code_of(vow_catch_if_with(rejected(3), "test", 4, recover, &call)), 3);
    ran(&other, 0, 1);
    call = call_of(&passed);
    CHECK_INT_EQ(
        int_of(vow_catch_if_with(vow_promise_with(vow_int(5)), NULL, VOW_ANY_CODE, recover, &call)),
        5);
    ran(&passed, 0, 1);
    vow_handler no_function = NULL;
    vow_promise *no_promise = NULL;
    call = call_of(&refused);
    CHECK_INT_EQ(
        code_of(vow_catch_if_with(vow_promise_with(vow_none()), NULL, 1, no_function, &call)),
        VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_catch_if_with(no_promise, NULL, 1, recover, &call)), VOW_EINVAL);
    ran(&refused, 0, 2);
    call.size = 8;
    CHECK_INT_EQ(code_of(vow_catch_if_with(vow_promise_with(vow_none()), NULL, 1, recover, &call)),
                 VOW_EINVAL);
    ran(&refused, 0, 2);
    CHECK_INT_EQ(int_of(vow_catch_if_with(vow_promise_with(vow_int(6)), NULL, 1, recover, NULL)),
                 6);
}

TEST("vow_catch_if_with is cancelled by its token") {
    counter count = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_call call = call_of(&count);
    call.token = vow_cancel_source_token(source);
    call.executor = vow_executor_inline();
    vow_promise *promise =
        vow_catch_if_with(vow_promise_create(&resolver), "vow", VOW_ECANCELLED, recover, &call);
    CHECK(vow_cancel_source_cancel(source));
    ran(&count, 1, 1);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

static void listen(double fraction, const char *note, void *context) {
    (void)fraction;
    (void)note;
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

TEST("a listener hears on its executor until its token is cancelled, and is destroyed once") {
    counter count = {0}, refused = {0};
    vow_resolver *resolver;
    vow_loop *loop = vow_loop_create();
    vow_executor *serial = vow_executor_serial("listener");
    vow_promise *promise = vow_promise_create(&resolver);
    vow_cancel_source *source = vow_cancel_source_create();
    vow_call call = call_of(&count);
    call.executor = vow_executor_inline();
    call.token = vow_cancel_source_token(source);
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, listen, &call), 0);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.25, NULL), 0);
    ran(&count, 1, 0);
    CHECK(vow_cancel_source_cancel(source));
    vow_cancel_source_release(source);
    ran(&count, 1, 1);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    ran(&count, 1, 1);
    call = call_of(&refused);
    CHECK_INT_EQ(vow_on_progress_with(promise, -1, listen, &call), VOW_EINVAL);
    ran(&refused, 0, 1);
    call.size = 8;
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, listen, &call), VOW_EINVAL);
    ran(&refused, 0, 1);
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    ran(&count, 1, 1);
    vow_executor_release(serial);
    vow_loop_destroy(loop);
}

typedef struct shared {
    counter *count;
    int sum;
} shared;

static void end_shared(void *box) {
    shared *self = box;
    CHECK_INT_EQ(self->sum, 6);
    counter_end(self->count);
}

static vow_value add_to(vow_value input, void *box) {
    ((shared *)box)->sum += (int)input.as.integer;
    return vow_int(input.as.integer + 1);
}

TEST("a box is the context of several links: its destructor runs with the last of them") {
    counter count = {0};
    vow_resolver *resolver;
    shared *box = vow_box_create(sizeof *box, end_shared);
    CHECK(box->count == NULL && box->sum == 0 && (uintptr_t)box % 16 == 0);
    box->count = &count;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 3; i++) {
        vow_reaction reaction = {.size = sizeof reaction,
                                 .on_fulfilled = add_to,
                                 .context = vow_box_retain(box),
                                 .destroy = vow_box_release,
                                 .executor = vow_executor_inline()};
        promise = vow_then_with(promise, &reaction);
    }
    vow_box_release(box);
    ran(&count, 0, 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    ran(&count, 0, 1);
    CHECK_INT_EQ(int_of(promise), 4);
    vow_resolver_release(resolver);
}

TEST("a box may be empty, without a destructor, or too large to be") {
    void *empty = vow_box_create(0, NULL);
    CHECK(empty != NULL);
    vow_box_release(empty);
    CHECK(vow_box_create(SIZE_MAX, counter_end) == NULL);
    CHECK(vow_box_create(SIZE_MAX / 2, counter_end) == NULL);
    CHECK(vow_box_retain(NULL) == NULL);
    vow_box_release(NULL);
}
