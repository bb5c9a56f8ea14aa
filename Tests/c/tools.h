/* Helpers that the test programs share: links, waits, counted contexts, threads. */
#ifndef VOW_TEST_TOOLS_H
#define VOW_TEST_TOOLS_H

#include "harness.h"

#define MILLISECOND VOW_MS
#define SECOND VOW_SECOND
/* A wait that fails the test rather than hang it. */
#define LONG_ENOUGH (60 * SECOND * slowness())

static inline int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

/* In an allocator: whether this is its first call on this thread, for what the thread carries to
 * its end. */
static inline bool begins_thread(void) {
    static _Thread_local bool has_begun;
    bool begins = !has_begun;
    has_begun = true;
    return begins;
}

/* A link (promise consumed) with everything that tests vary; NULL for what is not wanted. */
static inline vow_promise *link_full(vow_executor *executor, vow_promise *promise,
                                     vow_handler fulfilled, vow_handler rejected, void *context,
                                     void (*destroy)(void *)) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fulfilled;
    reaction.on_rejected = rejected;
    reaction.context = context;
    reaction.destroy = destroy;
    reaction.executor = executor;
    return vow_then_with(promise, &reaction);
}

static inline vow_promise *then_on(vow_executor *executor, vow_promise *promise, vow_handler fn,
                                   void *context) {
    return link_full(executor, promise, fn, NULL, context, NULL);
}

static inline vow_promise *then_inline(vow_promise *promise, vow_handler fn, void *context) {
    return link_full(vow_executor_inline(), promise, fn, NULL, context, NULL);
}

static inline vow_promise *catch_inline(vow_promise *promise, vow_handler fn, void *context) {
    return link_full(vow_executor_inline(), promise, NULL, fn, context, NULL);
}

/* Runs fn on fulfilment and on rejection. */
static inline vow_promise *either_on(vow_executor *executor, vow_promise *promise, vow_handler fn,
                                     void *context) {
    return link_full(executor, promise, fn, fn, context, NULL);
}

static inline vow_promise *finally_inline(vow_promise *promise, vow_handler fn, void *context) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fn;
    reaction.on_rejected = fn;
    reaction.context = context;
    reaction.executor = vow_executor_inline();
    reaction.flags = VOW_FINALLY;
    return vow_then_with(promise, &reaction);
}

static inline vow_promise *fulfilled_int(int64_t integer) {
    return vow_promise_with(vow_int(integer));
}

static inline vow_promise *rejected_code(int64_t code) {
    return vow_promise_with(vow_error("test", code, "as the test wants"));
}

/* Waits for a promise (consumed): 0 if it is fulfilled, the code of its error if it is rejected,
 * the answer of vow_await if that is an error, 99 if it is pending even after a long time. */
static inline int64_t code_of(vow_promise *promise) {
    vow_value out = vow_none();
    int state = vow_await(promise, LONG_ENOUGH, &out);
    int64_t code = state == (int)VOW_REJECTED ? vow_error_code(out) : 0;
    if (state < 0) {
        code = state;
    } else if (state == (int)VOW_PENDING) {
        code = 99;
    }
    vow_value_release(out);
    vow_promise_release(promise);
    return code;
}

/* Waits for a promise (consumed) and gives its whole number; INT64_MIN for anything else. */
static inline int64_t int_of(vow_promise *promise) {
    vow_value out = vow_none();
    int state = vow_await(promise, LONG_ENOUGH, &out);
    int64_t integer = INT64_MIN;
    if (state == (int)VOW_FULFILLED && out.kind == VOW_INT) {
        integer = out.as.integer;
    }
    vow_value_release(out);
    vow_promise_release(promise);
    return integer;
}

/* A context that knows how often its handler ran and how often it was destroyed. */
typedef struct counter {
    atomic_int runs;
    atomic_int ends;
} counter;

static inline void counter_end(void *context) {
    atomic_fetch_add(&((counter *)context)->ends, 1);
}

/* Counts the run and passes its input on. */
static inline vow_value counter_run(vow_value input, void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
    return vow_value_retain(input);
}

/* Objects of this class are counters; ends counts their destruction. */
static const vow_class counter_class = {sizeof(vow_class), "counter", counter_end, NULL};

/* Waits until an atomic number has reached a value; false if that takes too long. */
static inline bool reaches(atomic_int *number, int value) {
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (atomic_load(number) < value) {
        if (now_ns() > limit) {
            return false;
        }
        usleep(200);
    }
    return true;
}

/* The code of the reason that a promise (consumed) was cancelled with. */
static inline int64_t reason_of(vow_promise *promise) {
    vow_value error = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &error), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED);
    int64_t reason = vow_error_code(vow_error_payload(error));
    vow_value_release(error);
    vow_promise_release(promise);
    return reason;
}

/* Waits until every handler but so many has ended, though its promise may be pending still. */
static inline bool handlers_left(uint64_t wanted) {
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (harness_stats().handlers > wanted && now_ns() < limit) {
        usleep(200);
    }
    return CHECK_INT_EQ(harness_stats().handlers, wanted);
}

/* The numbers that handlers wrote, in the order in which they started. */
typedef struct journal {
    atomic_int started; /* places given away */
    atomic_int count;   /* entries written */
    int entries[64];
} journal;

typedef struct entry {
    journal *in;
    int number;
} entry;

static inline void journal_add(journal *in, int number) {
    int place = atomic_fetch_add(&in->started, 1);
    if (place < 64) {
        in->entries[place] = number;
    }
    atomic_fetch_add(&in->count, 1);
}

static inline vow_value entry_write(vow_value input, void *context) {
    entry *self = context;
    vow_value result = vow_value_retain(input);
    journal_add(self->in, self->number);
    return result;
}

/* Whether the journal holds exactly 0, 1, 2, ... count-1. */
static inline bool journal_counts_to(journal *in, int count) {
    bool good = CHECK_INT_EQ(atomic_load(&in->count), count);
    for (int place = 0; good && place < count; place++) {
        good = CHECK_INT_EQ(in->entries[place], place);
    }
    return good;
}

/* Handlers that many tests need. */
static inline vow_value add_one(vow_value input, void *context) {
    (void)context;
    return vow_int(input.as.integer + 1);
}

/* A reducer that leaves the state as it is. */
static inline vow_value fold(vow_value state, vow_value item, void *context) {
    (void)item;
    (void)context;
    return vow_value_retain(state);
}

static inline vow_value give_code(vow_value input, void *context) {
    (void)context;
    return vow_int(vow_error_code(input));
}

static inline vow_value fail_with_7(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_error("test", 7, "seven");
}

static inline pthread_t start_thread(void *(*run)(void *), void *context) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, context) != 0) {
        printf("# no thread could be started\n");
        abort();
    }
    return thread;
}

#endif
