#include "promise.h"

#include <stdatomic.h>
#include <stdlib.h>

/* One registered handler: a chain of them is PromiseKit's array. */
typedef struct entry {
    struct entry *next;
    dispatch_queue_t queue;
    handler fn;
    void *context;
    promise *derived;
    long input;
} entry;

struct promise {
    _Atomic long references;
    dispatch_queue_t queue;
    bool settled;
    long value;
    entry *first, **last;
};

promise *promise_create(void) {
    promise *self = calloc(1, sizeof *self);
    self->references = 1;
    self->queue = dispatch_queue_create("promise", DISPATCH_QUEUE_CONCURRENT);
    self->last = &self->first;
    return self;
}

promise *promise_retain(promise *self) {
    atomic_fetch_add_explicit(&self->references, 1, memory_order_relaxed);
    return self;
}

void promise_release(promise *self) {
    if (atomic_fetch_sub_explicit(&self->references, 1, memory_order_acq_rel) == 1) {
        dispatch_release(self->queue);
        free(self);
    }
}

/* Runs a handler, whose entry this frees, and resolves what was derived with its result. */
static void run(void *context) {
    entry *each = context;
    promise_resolve(each->derived, each->fn(each->input, each->context));
    promise_release(each->derived);
    free(each);
}

static void start(entry *each, long input) {
    each->input = input;
    if (each->queue != NULL) {
        dispatch_async_f(each->queue, each, run);
    } else {
        run(each);
    }
}

/* What goes into a barrier and comes out of it. */
typedef struct step {
    promise *self;
    long value;
    entry *entries;
    bool settled;
} step;

static void take_all_and_settle(void *context) {
    step *each = context;
    each->settled = each->self->settled;
    if (!each->settled) {
        each->self->settled = true;
        each->self->value = each->value;
        each->entries = each->self->first;
        each->self->first = NULL;
    }
}

static void settle(promise *self, long value) {
    step each = {.self = self, .value = value};
    dispatch_barrier_sync_f(self->queue, &each, take_all_and_settle);
    while (each.entries != NULL) {
        entry *next = each.entries->next;
        start(each.entries, value);
        each.entries = next;
    }
}

static result pass_on(long input, void *context) {
    settle(context, input);
    promise_release(context);
    return (result){input, NULL};
}

void promise_resolve(promise *self, result value) {
    if (value.adopted == NULL) {
        settle(self, value.number);
        return;
    }
    promise_release(promise_then(value.adopted, NULL, pass_on, promise_retain(self)));
    promise_release(value.adopted);
}

static void read_state(void *context) {
    step *each = context;
    each->settled = each->self->settled;
    each->value = each->self->value;
}

static void append_if_pending(void *context) {
    step *each = context;
    read_state(each);
    if (!each->settled) {
        *each->self->last = each->entries;
        each->self->last = &each->entries->next;
    }
}

promise *promise_then(promise *self, dispatch_queue_t queue, handler fn, void *context) {
    promise *derived = promise_create();
    entry *each = malloc(sizeof *each);
    *each =
        (entry){.queue = queue, .fn = fn, .context = context, .derived = promise_retain(derived)};
    step reading = {.self = self, .entries = each};
    dispatch_sync_f(self->queue, &reading, read_state);
    if (!reading.settled) {
        dispatch_barrier_sync_f(self->queue, &reading, append_if_pending);
    }
    if (reading.settled) {
        start(each, reading.value);
    }
    return derived;
}

bool promise_peek(promise *self, long *value) {
    step reading = {.self = self};
    dispatch_sync_f(self->queue, &reading, read_state);
    *value = reading.value;
    return reading.settled;
}

static result wake(long input, void *context) {
    dispatch_semaphore_signal(context);
    return (result){input, NULL};
}

long promise_await(promise *self) {
    long value;
    if (!promise_peek(self, &value)) {
        dispatch_semaphore_t done = dispatch_semaphore_create(0);
        promise_release(promise_then(self, NULL, wake, done));
        dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
        dispatch_release(done);
        promise_peek(self, &value);
    }
    return value;
}

/* The promise of all, and how many are missing. */
typedef struct group {
    _Atomic size_t missing;
    promise *together;
    long *results;
} group;

typedef struct member {
    group *of;
    size_t index;
} member;

static result arrived(long input, void *context) {
    member *self = context;
    group *of = self->of;
    of->results[self->index] = input;
    free(self);
    if (atomic_fetch_sub(&of->missing, 1) == 1) {
        settle(of->together, 0);
        promise_release(of->together);
        free(of);
    }
    return (result){input, NULL};
}

promise *promise_all(promise *const *promises, size_t count, long *results) {
    group *of = malloc(sizeof *of);
    promise *together = promise_create();
    *of = (group){count, promise_retain(together), results};
    for (size_t i = 0; i < count; i++) {
        member *each = malloc(sizeof *each);
        *each = (member){of, i};
        promise_release(promise_then(promises[i], NULL, arrived, each));
    }
    return together;
}
