/* The state matrix: each way in which a promise gets its outcome, on each kind of executor.
 *
 * A test gives a body to one of the for_each functions; the body gets a trial, registers what it
 * wants on its promise, calls trial_settle, and looks. What failed in which case is printed.
 */
#ifndef VOW_TEST_APLUS_H
#define VOW_TEST_APLUS_H

#include "../c/tools.h"
#include "../c/worker.h"

/* How the promise comes to its outcome. */
#define ALREADY 1u    /* made settled */
#define AT_ONCE 2u    /* settled before the body sees it */
#define RACING 4u     /* settled by another thread while the body registers */
#define AFTERWARDS 8u /* settled by trial_settle */
#define LATER 16u     /* settled by another thread, some time after trial_settle */
#define EVERY_WAY 31u
#define STILL_PENDING (AFTERWARDS | LATER)

#define FULFILS 1u
#define REJECTS 2u

typedef struct trial {
    unsigned way;
    bool rejects;
    bool is_inline;
    vow_executor *executor;
    vow_value outcome; /* what the promise settles with */
    vow_promise *promise;
    vow_resolver *resolver; /* NULL when the promise was made settled */
    atomic_bool begun;      /* set just before it settles */
    bool asked;
    bool threaded;
    pthread_t thread;
} trial;

static inline bool same_text(const char *one, const char *other) {
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* Whether two values are the same, down to the pointers of the objects in them. The boxes around
 * those may differ: a checked library lends a handler one of its own. */
static inline bool same(vow_value one, vow_value other) {
    if (one.kind != other.kind) {
        return false;
    }
    switch (one.kind) {
    case VOW_STRING:
        return same_text(vow_string_bytes(one, NULL), vow_string_bytes(other, NULL));
    case VOW_OBJECT:
        return vow_object_pointer(one, NULL) == vow_object_pointer(other, NULL);
    case VOW_ERROR:
        return vow_error_code(one) == vow_error_code(other) &&
               same_text(vow_error_domain(one), vow_error_domain(other)) &&
               same_text(vow_error_message(one), vow_error_message(other)) &&
               same(vow_error_payload(one), vow_error_payload(other));
    case VOW_LIST:
        for (size_t i = 0; i < vow_list_count(one); i++) {
            if (!same(vow_list_at(one, i), vow_list_at(other, i))) {
                return false;
            }
        }
        return vow_list_count(one) == vow_list_count(other);
    default:
        return one.as.integer == other.as.integer;
    }
}

/* Objects of this class say by their pointer which value it is. */
static const vow_class mark_class = {sizeof(vow_class), "mark", NULL, NULL};

static inline vow_state trial_state(trial *self) {
    return self->rejects ? VOW_REJECTED : VOW_FULFILLED;
}

static inline void trial_give(trial *self) {
    vow_value outcome = vow_value_retain(self->outcome);
    atomic_store(&self->begun, true);
    CHECK(self->rejects ? vow_reject(self->resolver, outcome)
                        : vow_resolve(self->resolver, outcome));
}

static inline void *trial_give_now(void *context) {
    trial_give(context);
    return NULL;
}

static inline void *trial_give_soon(void *context) {
    usleep(1000);
    trial_give(context);
    return NULL;
}

static inline void trial_on_thread(trial *self, void *(*run)(void *)) {
    self->threaded = true;
    self->thread = start_thread(run, self);
}

static inline void trial_begin(trial *self, bool rejects, unsigned way) {
    self->way = way;
    self->rejects = rejects;
    vow_value mark = vow_object(self, &mark_class);
    self->outcome = rejects ? vow_error_wrap("test", 42, "the reason", mark) : mark;
    if (way == ALREADY) {
        atomic_store(&self->begun, true);
        self->promise = vow_promise_with(vow_value_retain(self->outcome));
        return;
    }
    self->promise = vow_promise_create(&self->resolver);
    if (way == AT_ONCE) {
        trial_give(self);
    } else if (way == RACING) {
        trial_on_thread(self, trial_give_now);
    }
}

/* The body has registered what it wants: the promise may settle. */
static inline void trial_settle(trial *self) {
    if (self->asked) {
        return;
    }
    self->asked = true;
    if (self->way == AFTERWARDS) {
        trial_give(self);
    } else if (self->way == LATER) {
        trial_on_thread(self, trial_give_soon);
    }
}

static inline void trial_end(trial *self) {
    trial_settle(self);
    if (self->threaded) {
        pthread_join(self->thread, NULL);
    }
    vow_value out;
    CHECK(vow_promise_peek(self->promise, &out));
    vow_resolver_release(self->resolver);
    vow_promise_release(self->promise);
    vow_value_release(self->outcome);
}

static inline const char *way_name(unsigned way) {
    return way == ALREADY      ? "already"
           : way == AT_ONCE    ? "at once"
           : way == RACING     ? "racing"
           : way == AFTERWARDS ? "afterwards"
                               : "later";
}

static inline void for_each_on(vow_executor *executor, const char *place, void (*body)(trial *),
                               unsigned outcomes, unsigned ways) {
    for (unsigned outcome = FULFILS; outcome <= REJECTS; outcome *= 2) {
        for (unsigned way = ALREADY; way <= LATER; way *= 2) {
            if ((outcomes & outcome) == 0 || (ways & way) == 0) {
                continue;
            }
            int failures = atomic_load(&harness_failures);
            trial self;
            memset(&self, 0, sizeof self);
            self.executor = executor;
            self.is_inline = executor == vow_executor_inline();
            trial_begin(&self, outcome == REJECTS, way);
            body(&self);
            trial_end(&self);
            if (atomic_load(&harness_failures) != failures) {
                printf("# in this case: %s %s, executor: %s\n",
                       outcome == REJECTS ? "rejected" : "fulfilled", way_name(way), place);
            }
        }
    }
}

/* The body with each of the outcomes, in each of the ways, on four kinds of executor. */
static inline void for_each(void (*body)(trial *), unsigned outcomes, unsigned ways) {
    for_each_on(vow_executor_inline(), "inline", body, outcomes, ways);
    for_each_on(vow_executor_pool(), "pool", body, outcomes, ways);
    vow_executor *serial = vow_executor_serial("aplus");
    for_each_on(serial, "serial", body, outcomes, ways);
    vow_executor_release(serial);
    worker thread;
    worker_start(&thread);
    vow_executor *own = vow_executor_custom(&worker_class, &thread);
    for_each_on(own, "the program's own", body, outcomes, ways);
    vow_executor_release(own);
    /* The thread that settled last may hold the executor a moment longer. */
    CHECK(reaches(&thread.destroyed, 1));
    worker_stop(&thread);
}

/* Waits for a promise (consumed) and checks that it ends in a state with this very value. */
#define ENDS_AS(promise, state, value) ends_as((promise), (state), (value), __FILE__, __LINE__)

static inline void ends_as(vow_promise *promise, vow_state state, vow_value value, const char *file,
                           int line) {
    vow_value out = vow_none();
    int answer = vow_await(promise, LONG_ENOUGH, &out);
    harness_check_int(answer, state, "the state in the end", file, line);
    harness_check(same(out, value), "it is this very value", file, line);
    vow_value_release(out);
    vow_promise_release(promise);
}

/* Checks that a promise (borrowed) ends as the trial does. */
#define ENDS_AS_TRIAL(promise, self) ENDS_AS((promise), trial_state(self), (self)->outcome)

/* A handler that passes its input on. */
static inline vow_value pass_on(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

/* Waits until everything that was given to a serial executor before has run; on the others, until
 * it could have. */
static inline void let_pass(vow_executor *executor) {
    for (int i = 0; i < 4; i++) {
        CHECK_INT_EQ(int_of(then_on(executor, fulfilled_int(i), pass_on, NULL)), i);
    }
}

#endif
