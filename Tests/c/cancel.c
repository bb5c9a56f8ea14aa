/* Tests chapter 9, cancellation: promises, their producers, and who is interested. */
#include "small_stack.h"
#include "worker.h"

/* Calls of a hook, and of its destroy. */
typedef counter hook;

static void hook_called(void *context) {
    atomic_fetch_add(&((hook *)context)->runs, 1);
}

static bool hook_is(hook *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->runs), runs) && CHECK_INT_EQ(atomic_load(&of->ends), ends);
}

/* A pending promise whose producer asks to be told. */
static vow_promise *hooked(vow_resolver **resolver, hook *of) {
    vow_promise *promise = vow_promise_create(resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(*resolver, hook_called, of, counter_end), 0);
    return promise;
}

static vow_promise *counted(vow_executor *executor, vow_promise *promise, counter *of) {
    return link_full(executor, promise, counter_run, NULL, of, counter_end);
}

static bool is_cancelled(vow_promise *promise) {
    vow_value error = vow_none();
    return CHECK(vow_promise_peek(promise, &error)) && CHECK_INT_EQ(error.kind, VOW_ERROR) &&
           CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED) &&
           CHECK_STR_EQ(vow_error_domain(error), "vow");
}

TEST("cancelling rejects a pending promise at once, and tells its producer once") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    CHECK(!vow_cancel(promise));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    hook_is(&told, 1, 1);
}

TEST("a settled promise cannot be cancelled, and its hooks are only destroyed") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    CHECK(vow_resolve(resolver, vow_int(1)));
    hook_is(&told, 0, 1);
    CHECK(!vow_cancel(promise));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("a hook that comes too late is called at once; one for a resolved promise is not") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &told, counter_end), 0);
    hook_is(&told, 1, 1);
    vow_promise_release(promise);
    vow_resolver_release(resolver);

    hook unread = {0};
    promise = vow_promise_create(&resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &unread, counter_end), 0);
    hook_is(&unread, 1, 1);
    vow_resolver_release(resolver);

    hook settled = {0};
    promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &settled, counter_end), 0);
    hook_is(&settled, 0, 1);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

static void write_entry(void *context) {
    entry *self = context;
    journal_add(self->in, self->number);
}

TEST("hooks are called in the order in which they were given") {
    vow_resolver *resolver;
    journal in = {0};
    entry entries[3] = {{&in, 0}, {&in, 1}, {&in, 2}};
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_resolver_on_cancel(resolver, write_entry, &entries[i], NULL), 0);
    }
    CHECK(vow_cancel(promise));
    journal_counts_to(&in, 3);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("releasing the last handle of a pending promise tells its producer, and settles nothing") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    vow_promise_retain(promise);
    vow_promise_release(promise);
    hook_is(&told, 0, 0);
    vow_promise_release(promise);
    hook_is(&told, 1, 1);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
}

/* What a destructor does with a promise: a thread calls no hook before the destructor has returned.
 */
typedef struct in_destructor {
    vow_promise *promise;
    vow_resolver *resolver;
    hook *late; /* given after the last reader has gone */
    bool resolves;
} in_destructor;

static void lose_and_resolve(void *context) {
    in_destructor *self = context;
    vow_promise_release(self->promise);
    if (self->late != NULL) {
        CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, hook_called, self->late, counter_end),
                     0);
    }
    if (self->resolves) {
        CHECK(vow_resolve(self->resolver, vow_int(1)));
    }
    vow_resolver_release(self->resolver);
}

static const vow_class losing_class = {sizeof(vow_class), "losing", lose_and_resolve, NULL};

TEST("a hook that waits for the end of a destructor is not called once the promise is resolved") {
    for (int way = 0; way < 4; way++) {
        hook told = {0}, late = {0};
        in_destructor self = {.late = way / 2 == 0 ? NULL : &late, .resolves = way % 2 == 0};
        self.promise = hooked(&self.resolver, &told);
        vow_value_release(vow_object(&self, &losing_class));
        hook_is(&told, !self.resolves, 1);
        hook_is(&late, self.late != NULL && !self.resolves, self.late != NULL);
    }
}

typedef struct resolving {
    vow_resolver *resolver;
    bool resolved;
} resolving;

static void resolve_in_hook(void *context) {
    resolving *self = context;
    self->resolved = vow_resolve(self->resolver, vow_int(1));
}

TEST("a hook that resolves a promise is the last to be called: only one that nobody reads can be") {
    for (int way = 0; way < 2; way++) {
        resolving first = {0};
        hook second = {0};
        vow_promise *promise = vow_promise_create(&first.resolver);
        CHECK_INT_EQ(vow_resolver_on_cancel(first.resolver, resolve_in_hook, &first, NULL), 0);
        CHECK_INT_EQ(vow_resolver_on_cancel(first.resolver, hook_called, &second, counter_end), 0);
        if (way == 1) {
            CHECK(vow_cancel(promise));
        }
        vow_promise_release(promise);
        CHECK(first.resolved == (way == 0));
        hook_is(&second, way, 1);
        vow_resolver_release(first.resolver);
    }
}

TEST("a reaction keeps the interest alive, whoever holds it") {
    vow_resolver *resolver;
    hook told = {0};
    counter ran = {0};
    vow_promise *promise = hooked(&resolver, &told);
    vow_promise_release(counted(vow_executor_inline(), promise, &ran));
    hook_is(&told, 0, 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    hook_is(&told, 0, 1);
    hook_is(&ran, 1, 1);
}

TEST("cancelling the end of a chain cancels all of it, up to the producer") {
    vow_resolver *resolver;
    hook told = {0};
    counter ran = {0};
    vow_promise *promise = hooked(&resolver, &told);
    for (int i = 0; i < 5; i++) {
        promise = counted(vow_executor_inline(), promise, &ran);
    }
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    hook_is(&ran, 0, 5);
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    hook_is(&ran, 0, 5);
}

TEST("what somebody else holds or reads is not cancelled") {
    vow_resolver *resolver;
    hook told = {0};
    counter one = {0};
    counter other = {0};
    vow_promise *shared = counted(vow_executor_inline(), hooked(&resolver, &told), &one);
    vow_promise *left = then_inline(vow_promise_retain(shared), add_one, NULL);
    vow_promise *right = counted(vow_executor_inline(), shared, &other);
    CHECK(vow_cancel(left));
    is_cancelled(left);
    hook_is(&told, 0, 0);
    CHECK_INT_EQ(vow_promise_state(right), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    hook_is(&one, 1, 1);
    hook_is(&other, 1, 1);
    CHECK_INT_EQ(int_of(right), 1);
    vow_promise_release(left);
}

TEST("the last of several readers to be cancelled cancels what they share") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *shared = hooked(&resolver, &told);
    vow_promise *left = then_inline(vow_promise_retain(shared), add_one, NULL);
    vow_promise *right = then_inline(shared, add_one, NULL);
    CHECK(vow_cancel(left));
    hook_is(&told, 0, 0);
    CHECK(vow_cancel(right));
    hook_is(&told, 1, 1);
    vow_resolver_release(resolver);
    vow_promise_release(left);
    vow_promise_release(right);
}

TEST("rejection handlers downstream get VOW_ECANCELLED, with the reason") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *after = catch_inline(vow_promise_retain(promise), give_code, NULL);
    CHECK(vow_cancel_with(promise, vow_string("enough", VOW_NUL_TERMINATED)));
    CHECK_INT_EQ(int_of(after), VOW_ECANCELLED);
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_EQ(vow_string_bytes(vow_error_payload(error), NULL), "enough");
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("cancelling goes through adoption: the adopted promise is cancelled if nobody else has it") {
    for (int is_held = 0; is_held < 2; is_held++) {
        vow_resolver *inner, *outer;
        hook told = {0};
        vow_promise *adopted = hooked(&inner, &told);
        vow_promise *promise = vow_promise_create(&outer);
        if (is_held) {
            vow_promise_retain(adopted);
        }
        CHECK(vow_resolve(outer, vow_from_promise(adopted)));
        CHECK(vow_cancel(promise));
        is_cancelled(promise);
        hook_is(&told, is_held ? 0 : 1, is_held ? 0 : 1);
        if (is_held) {
            CHECK_INT_EQ(vow_promise_state(adopted), VOW_PENDING);
            CHECK(vow_resolve(inner, vow_int(2)));
            CHECK_INT_EQ(int_of(adopted), 2);
        }
        vow_resolver_release(inner);
        vow_resolver_release(outer);
        vow_promise_release(promise);
        hook_is(&told, is_held ? 0 : 1, 1);
    }
}

TEST("releasing a promise that adopted another one loses the interest in that") {
    vow_resolver *inner, *outer;
    hook told = {0};
    vow_promise *promise = vow_promise_create(&outer);
    CHECK(vow_resolve(outer, vow_from_promise(hooked(&inner, &told))));
    vow_resolver_release(outer);
    hook_is(&told, 0, 0);
    vow_promise_release(promise);
    hook_is(&told, 1, 1);
    vow_resolver_release(inner);
}

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

TEST("a chain that nobody holds runs to its end, and so does what its handlers begin") {
    vow_resolver *first, *second;
    hook told = {0};
    vow_promise *inner = hooked(&second, &told);
    vow_promise_release(then_inline(vow_promise_create(&first), give_promise, inner));
    CHECK(vow_resolve(first, vow_none()));
    hook_is(&told, 0, 0);
    CHECK(vow_resolve(second, vow_int(1)));
    hook_is(&told, 0, 1);
    vow_resolver_release(first);
    vow_resolver_release(second);
}

TEST("a reaction that waits for its handler's promise is cancelled together with that") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *inner = hooked(&resolver, &told);
    vow_promise *promise = then_inline(fulfilled_int(1), give_promise, inner);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("a finally that waits is cancelled, and lets go of its outcome") {
    vow_resolver *resolver;
    hook told = {0};
    counter object = {0};
    vow_promise *inner = hooked(&resolver, &told);
    vow_promise *promise = vow_promise_with(vow_object(&object, &counter_class));
    promise = finally_inline(promise, give_promise, inner);
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

/* A handler that cancels its own promise, or another one, while it runs. */
typedef struct self_cancel {
    vow_promise *promise;
    bool answer;
} self_cancel;

static vow_value cancel_it(vow_value input, void *context) {
    self_cancel *self = context;
    self->answer = vow_cancel(self->promise);
    return vow_value_retain(input);
}

TEST("a handler may cancel its own promise: its result is released") {
    vow_resolver *resolver;
    self_cancel self = {0};
    counter object = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = then_inline(promise, cancel_it, &self);
    CHECK(vow_resolve(resolver, vow_object(&object, &counter_class)));
    CHECK(self.answer);
    is_cancelled(self.promise);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    vow_promise_release(self.promise);
}

TEST("a handler may cancel a sibling that has been handed over and not begun") {
    vow_resolver *resolver;
    self_cancel self = {0};
    counter sibling = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *first = then_inline(vow_promise_retain(promise), cancel_it, &self);
    self.promise = counted(vow_executor_inline(), vow_promise_retain(promise), &sibling);
    vow_promise *third = then_inline(promise, add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(self.answer);
    is_cancelled(self.promise);
    hook_is(&sibling, 0, 1);
    CHECK_INT_EQ(int_of(third), 2);
    vow_resolver_release(resolver);
    vow_promise_release(first);
    vow_promise_release(self.promise);
}

typedef struct gate {
    atomic_int entered;
    atomic_int open;
} gate;

static vow_value wait_at_gate(vow_value input, void *context) {
    gate *self = context;
    atomic_store(&self->entered, 1);
    CHECK(reaches(&self->open, 1));
    return vow_value_retain(input);
}

/* Waits until the handlers that the test let go of have ended: so many promises are alive. */
static bool are_alive(uint64_t wanted) {
    vow_statistics now;
    int64_t limit = now_ns() + LONG_ENOUGH;
    now.size = sizeof now;
    do {
        CHECK_INT_EQ(vow_stats(&now), 0);
        usleep(200);
    } while (now.live != wanted && now_ns() < limit);
    return CHECK_INT_EQ(now.live, wanted);
}

TEST("G14: a handler that runs elsewhere ends first, and its promise is rejected then") {
    vow_executor *executors[2] = {vow_executor_pool(), vow_executor_serial("cancel")};
    static gate gates[2];
    for (int i = 0; i < 2; i++) {
        vow_promise *promise = then_on(executors[i], fulfilled_int(1), wait_at_gate, &gates[i]);
        CHECK(reaches(&gates[i].entered, 1));
        CHECK(vow_cancel(promise));
        CHECK(!vow_cancel(promise));
        CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
        atomic_store(&gates[i].open, 1);
        CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_REJECTED);
        is_cancelled(promise);
        vow_promise_release(promise);
        are_alive(0);
    }
    vow_executor_release(executors[1]);
}

TEST("what waits for its executor is rejected at once, and its context is destroyed before") {
    worker thread;
    vow_executor *executors[2] = {vow_executor_serial("busy"), NULL};
    worker_start(&thread);
    executors[1] = vow_executor_custom(&worker_class, &thread);
    for (int i = 0; i < 2; i++) {
        gate at = {0};
        counter late = {0};
        vow_promise *busy = then_on(executors[i], fulfilled_int(1), wait_at_gate, &at);
        CHECK(reaches(&at.entered, 1));
        vow_promise *promise = counted(executors[i], fulfilled_int(1), &late);
        vow_promise *after = then_on(executors[i], fulfilled_int(1), add_one, NULL);
        CHECK(vow_cancel(promise));
        is_cancelled(promise);
        vow_promise_release(promise);
        atomic_store(&at.open, 1);
        CHECK_INT_EQ(int_of(after), 2);
        hook_is(&late, 0, 1);
        CHECK_INT_EQ(int_of(busy), 1);
        vow_executor_release(executors[i]);
    }
    worker_stop(&thread);
}

static void *wait_for_it(void *context) {
    return (void *)(intptr_t)code_of(vow_promise_retain(context));
}

TEST("cancelling wakes a thread that waits") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    pthread_t thread = start_thread(wait_for_it, promise);
    usleep(20000);
    CHECK(vow_cancel(promise));
    void *code = NULL;
    pthread_join(thread, &code);
    CHECK_INT_EQ((intptr_t)code, VOW_ECANCELLED);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

/* A thenable that keeps its resolver and asks to be told. */
typedef struct thenable {
    counter asked;
    hook told;
    vow_resolver *resolver;
} thenable;

static bool keep_resolver(void *pointer, vow_resolver *resolver) {
    thenable *self = pointer;
    atomic_fetch_add(&self->asked.runs, 1);
    self->resolver = resolver;
    return CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &self->told, counter_end), 0);
}

static const vow_class thenable_class = {sizeof(vow_class), "thenable", NULL, keep_resolver};

TEST("a thenable's producer hears of cancellation, and of lost interest") {
    for (int is_release = 0; is_release < 2; is_release++) {
        thenable source = {{0}, {0}, NULL};
        vow_promise *promise = vow_promise_with(vow_object(&source, &thenable_class));
        CHECK_INT_EQ(atomic_load(&source.asked.runs), 1);
        hook_is(&source.told, 0, 0);
        if (is_release) {
            vow_promise_release(promise);
            hook_is(&source.told, 1, 1);
        } else {
            CHECK(vow_cancel(promise));
            is_cancelled(promise);
            hook_is(&source.told, 1, 1);
            vow_promise_release(promise);
        }
        vow_resolver_release(source.resolver);
    }
}

static vow_value cancel_before_asked(vow_value input, void *context) {
    vow_promise *promise = vow_promise_with(vow_object(context, &thenable_class));
    (void)input;
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    vow_promise_release(promise);
    return vow_none();
}

TEST("a thenable that is not wanted before it is asked is never asked") {
    thenable source = {{0}, {0}, NULL};
    CHECK_INT_EQ(code_of(then_inline(fulfilled_int(1), cancel_before_asked, &source)), 0);
    CHECK_INT_EQ(atomic_load(&source.asked.runs), 0);
}

TEST("NULL is cancelled in vain, a hook without a function or a resolver is refused") {
    hook never = {0};
    vow_promise *no_promise = NULL;
    vow_resolver *no_resolver = NULL;
    void (*no_function)(void *) = NULL;
    CHECK(!vow_cancel(no_promise));
    CHECK(!vow_cancel_with(no_promise, vow_string("reason", VOW_NUL_TERMINATED)));
    CHECK_INT_EQ(vow_resolver_on_cancel(no_resolver, hook_called, &never, counter_end), VOW_EINVAL);
    hook_is(&never, 0, 1);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, no_function, &never, counter_end), VOW_EINVAL);
    hook_is(&never, 0, 2);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("async work is cancelled before it begins") {
    gate at = {0};
    counter never = {0};
    vow_executor *serial = vow_executor_serial("async");
    vow_promise *busy = vow_async(serial, wait_at_gate, &at);
    CHECK(reaches(&at.entered, 1));
    vow_promise *promise = vow_async(serial, counter_run, &never);
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    vow_promise_release(promise);
    atomic_store(&at.open, 1);
    CHECK_INT_EQ(code_of(busy), 0);
    vow_executor_release(serial);
    CHECK_INT_EQ(atomic_load(&never.runs), 0);
}

static atomic_int reports;

static void report(vow_value error, void *context) {
    (void)error;
    (void)context;
    atomic_fetch_add(&reports, 1);
}

TEST("a cancelled promise is nothing to report as unhandled, nor what its producer then rejects") {
    vow_resolver *resolver;
    hook told = {0};
    vow_on_unhandled(report, NULL);
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_cancel(promise));
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_promise_release(hooked(&resolver, &told));
    CHECK(vow_reject(resolver, vow_error("test", 1, "stopped")));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&reports), 0);
    vow_on_unhandled(NULL, NULL);
}

/* A hook that uses the promise it is about. */
typedef struct entangled {
    vow_promise *promise;
    vow_resolver *resolver;
    int state;
} entangled;

static void look_and_release(void *context) {
    entangled *self = context;
    self->state = (int)vow_promise_state(self->promise);
    vow_promise_release(then_inline(vow_promise_retain(self->promise), add_one, NULL));
    vow_resolver_release(self->resolver);
}

TEST("a hook may do anything to the promise and its resolver") {
    entangled self = {0};
    self.promise = vow_promise_create(&self.resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, look_and_release, &self, NULL), 0);
    CHECK(vow_cancel(self.promise));
    CHECK_INT_EQ(self.state, VOW_REJECTED);
    vow_promise_release(self.promise);
}

#define READERS 100000

static void *cancel_long_chain(void *context) {
    hook *told = context;
    vow_resolver *resolver;
    vow_promise *promise = hooked(&resolver, told);
    for (int i = 0; i < depth_of(1000000); i++) {
        promise = then_inline(promise, add_one, NULL);
    }
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("G6: a chain of very many links is cancelled on a small stack") {
    hook told = {0};
    on_small_stack(cancel_long_chain, &told);
    hook_is(&told, 1, 1);
}

static void *cancel_readers(void *context) {
    vow_resolver *resolver;
    vow_promise *shared = vow_promise_create(&resolver);
    vow_promise **readers = malloc(READERS * sizeof *readers);
    (void)context;
    for (int i = 0; i < READERS; i++) {
        readers[i] = then_inline(vow_promise_retain(shared), add_one, NULL);
    }
    /* The oldest first: the deepest in the queue. */
    for (int i = 0; i < READERS; i++) {
        CHECK(vow_cancel(readers[i]));
        vow_promise_release(readers[i]);
    }
    free(readers);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(int_of(shared), 1);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("a hundred thousand readers of one promise are cancelled in linear time") {
    on_small_stack(cancel_readers, NULL);
}
