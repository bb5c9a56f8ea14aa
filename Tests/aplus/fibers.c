/* The tests of aplus.c with fibers for handlers: each handler returns the promise of a fiber, which
 * waits, and then calls the test's function. The rules that are about a handler's moment (2.2.4)
 * hold for the fiber's function. */
#include "../c/worker.h"

#include <sched.h>

static vow_promise *then_in_fiber(vow_promise *promise, const vow_reaction *reaction);
static vow_promise *async_in_fiber(vow_executor *executor, vow_handler fn, void *context);
static vow_executor *custom_executor(const vow_executor_class *kind, void *context);

#undef TEST
#define TEST(text) HARNESS_TEST("in fibers, " text, HARNESS_JOIN(test_, __LINE__))
#define link_full link_with_fibers
#define then_on then_on_with_fibers
#define then_inline then_inline_with_fibers
#define catch_inline catch_inline_with_fibers
#define either_on either_on_with_fibers
#define vow_async(executor, fn, context) async_in_fiber(executor, fn, context)
#define vow_executor_custom(kind, context) custom_executor(kind, context)

static inline vow_promise *link_full(vow_executor *executor, vow_promise *promise,
                                     vow_handler fulfilled, vow_handler rejected, void *context,
                                     void (*destroy)(void *)) {
    vow_reaction reaction = {
        .size = sizeof reaction,
        .on_fulfilled = fulfilled,
        .on_rejected = rejected,
        .context = context,
        .destroy = destroy,
        .executor = executor,
    };
    return then_in_fiber(promise, &reaction);
}

static inline vow_promise *then_on(vow_executor *executor, vow_promise *promise, vow_handler fn,
                                   void *context) {
    return link_full(executor, promise, fn, NULL, context, NULL);
}

static inline vow_promise *then_inline(vow_promise *promise, vow_handler fn, void *context) {
    return then_on(vow_executor_inline(), promise, fn, context);
}

static inline vow_promise *catch_inline(vow_promise *promise, vow_handler fn, void *context) {
    return link_full(vow_executor_inline(), promise, NULL, fn, context, NULL);
}

static inline vow_promise *either_on(vow_executor *executor, vow_promise *promise, vow_handler fn,
                                     void *context) {
    return link_full(executor, promise, fn, fn, context, NULL);
}

#include "aplus.c"
#undef vow_async
#undef vow_executor_custom

/* A thread that settles what fibers wait for, in the order of their waits. */
static worker ferry;
static pthread_once_t ferry_begun = PTHREAD_ONCE_INIT;

static void ferry_end(void) {
    worker_stop(&ferry);
}

static void ferry_begin(void) {
    worker_start(&ferry);
    atexit(ferry_end);
}

static void ferry_settle(void *resolver) {
    sched_yield();
    CHECK(vow_resolve(resolver, vow_int(5)));
    vow_resolver_release(resolver);
}

/* The program's own executor whose work runs on no thread of its own, but where a test calls it. */
static vow_executor *driven;

static vow_executor *custom_executor(const vow_executor_class *kind, void *context) {
    vow_executor *made = vow_executor_custom(kind, context);
    driven = kind->current == NULL ? made : NULL;
    return made;
}

static void wait_for(vow_promise *promise, int64_t expected) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_take(promise, VOW_FOREVER, &out), VOW_FULFILLED);
    CHECK_INT_EQ(out.as.integer, expected);
}

static vow_value give_four(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(4);
}

/* The first wait is for work of the fiber's own executor, which the fiber holds up until it is
 * suspended; the second one is for another thread. */
static void wait_twice(void) {
    vow_executor *here = vow_executor_current();
    if (here != vow_executor_inline()) {
        CHECK_INT_EQ(vow_fiber_yield(), 0);
        vow_promise *turn = vow_async(here, give_four, NULL);
        if (here != vow_executor_pool()) {
            CHECK_INT_EQ(vow_promise_state(turn), VOW_PENDING);
        }
        wait_for(turn, 4);
        CHECK(vow_executor_current() == here);
    }
    if (here != driven) {
        vow_resolver *resolver;
        vow_promise *crossing = vow_promise_create(&resolver);
        pthread_once(&ferry_begun, ferry_begin);
        worker_submit(&ferry, ferry_settle, resolver);
        wait_for(crossing, 5);
        CHECK(vow_executor_current() == here);
    }
}

/* The context of a reaction, and of the fibers that its handlers start. */
typedef struct wrapped {
    vow_handler on_fulfilled;
    vow_handler on_rejected;
    void *context;
    void (*destroy)(void *context);
    vow_value input;
} wrapped;

static wrapped *wrap(vow_handler on_fulfilled, vow_handler on_rejected, void *context,
                     void (*destroy)(void *)) {
    wrapped *self = malloc(sizeof *self);
    if (self == NULL) {
        abort();
    }
    *self = (wrapped){on_fulfilled, on_rejected, context, destroy, vow_none()};
    return self;
}

static void unwrap(void *context) {
    wrapped *self = context;
    if (self->destroy != NULL) {
        self->destroy(self->context);
    }
    vow_value_release(self->input);
    free(self);
}

static vow_value run(wrapped *self, vow_handler handler) {
    wait_twice();
    vow_value result = handler(self->input, self->context);
    vow_value_release(self->input);
    self->input = vow_none();
    return result;
}

static vow_value run_fulfilled(vow_value input, void *context) {
    (void)input;
    return run(context, ((wrapped *)context)->on_fulfilled);
}

static vow_value run_rejected(vow_value input, void *context) {
    (void)input;
    return run(context, ((wrapped *)context)->on_rejected);
}

/* The promise that the reaction gives may have no reader: the shield keeps the fiber from being
 * cancelled with it. */
static vow_value start_fiber(vow_value input, wrapped *self, vow_handler body) {
    self->input = vow_value_retain(input);
    return vow_from_promise(vow_shield(vow_fiber(NULL, body, self, NULL)));
}

static vow_value start_fulfilled(vow_value input, void *context) {
    return start_fiber(input, context, run_fulfilled);
}

static vow_value start_rejected(vow_value input, void *context) {
    return start_fiber(input, context, run_rejected);
}

static vow_promise *then_in_fiber(vow_promise *promise, const vow_reaction *reaction) {
    vow_reaction changed = *reaction;
    if (reaction->on_fulfilled == NULL && reaction->on_rejected == NULL) {
        return vow_then_with(promise, reaction);
    }
    changed.context =
        wrap(reaction->on_fulfilled, reaction->on_rejected, reaction->context, reaction->destroy);
    changed.on_fulfilled = reaction->on_fulfilled != NULL ? start_fulfilled : NULL;
    changed.on_rejected = reaction->on_rejected != NULL ? start_rejected : NULL;
    changed.destroy = unwrap;
    return vow_then_with(promise, &changed);
}

static vow_promise *async_in_fiber(vow_executor *executor, vow_handler fn, void *context) {
    vow_fiber_options options = {.size = sizeof options, .destroy = unwrap};
    return vow_fiber(executor, run_fulfilled, wrap(fn, NULL, context, NULL), &options);
}
