/* Fibers that wait, against the thread that settles, cancels, or closes a ring. */
#include "../scenario.h"

#include <string.h>

/* The gate lets a fiber go on from the thread that opens it; then the fiber waits for `next`. */
typedef struct fiber {
    deferred gate;
    vow_promise *next, *promise;
    int ends, first, second;
} fiber;

static fiber fibers[2];
static deferred it;
static bool was_first;

static vow_value body(vow_value input, void *context) {
    fiber *self = context;
    vow_value value = vow_none();
    (void)input;
    self->first = vow_await(self->gate.promise, VOW_FOREVER, NULL);
    self->second = vow_await(self->next, VOW_FOREVER, &value);
    vow_value_release(value);
    self->ends++;
    return vow_int(5);
}

static void start_fiber(int number, vow_promise *next) {
    fiber *self = &fibers[number];
    *self = (fiber){.gate = defer(), .next = next, .first = -100, .second = -100};
    self->promise = vow_fiber(vow_executor_inline(), body, self, NULL);
}

static void start(void) {
    it = defer();
    memset(fibers, 0, sizeof fibers);
    start_fiber(0, it.promise);
}

static void open_gate(void) {
    CHECK(vow_resolve(fibers[0].gate.resolver, vow_int(1)));
}

static void open_other_gate(void) {
    CHECK(vow_resolve(fibers[1].gate.resolver, vow_int(1)));
}

static void settle(void) {
    vow_resolve(it.resolver, vow_int(3));
}

static void cancel_fiber(void) {
    was_first = vow_cancel(fibers[0].promise);
}

static void end(int which) {
    outcome(which);
    for (int i = 0; i < 2; i++) {
        if (fibers[i].promise != NULL) {
            CHECK(fibers[i].ends == 1);
            vow_promise_release(fibers[i].promise);
            release(&fibers[i].gate);
        }
    }
    release(&it);
}

static void finish_settled(void) {
    CHECK(fibers[0].first == VOW_FULFILLED && fibers[0].second == VOW_FULFILLED);
    check_settled(fibers[0].promise, VOW_FULFILLED, 5);
    end(0);
}

/* Whichever of the two comes second makes the fiber go on. */
SCENARIO fiber_settle = {
    "fiber-settle", start, {open_gate, settle}, finish_settled, 4, 1,
};

/* The fiber waits, or is about to, or goes on, when it is cancelled: each later wait says so. */
static void finish_cancelled(void) {
    bool was_open = fibers[0].first == VOW_FULFILLED,
         was_settled = fibers[0].second == VOW_FULFILLED;
    CHECK(was_open || fibers[0].first == VOW_REJECTED);
    CHECK(was_settled || fibers[0].second == VOW_REJECTED);
    CHECK(was_first || (was_open && was_settled));
    if (was_first) {
        check_settled(fibers[0].promise, VOW_REJECTED, VOW_ECANCELLED);
    } else {
        check_settled(fibers[0].promise, VOW_FULFILLED, 5);
    }
    end(was_open + 2 * was_settled + was_first - 1);
}

SCENARIO fiber_cancel = {
    "fiber-cancel", start, {cancel_fiber, open_gate, settle}, finish_cancelled, 2, 4,
};

/* The two fibers wait for each other: one is refused, or both are. */
static void start_ring(void) {
    start();
    start_fiber(1, fibers[0].promise);
    fibers[0].next = fibers[1].promise;
}

static void finish_ring(void) {
    int refused[2];
    for (int i = 0; i < 2; i++) {
        refused[i] = fibers[i].second == VOW_ECYCLE;
        CHECK(refused[i] || fibers[i].second == VOW_FULFILLED);
        check_settled(fibers[i].promise, VOW_FULFILLED, 5);
    }
    CHECK(refused[0] || refused[1]);
    end(refused[0] + 2 * refused[1] - 1);
}

SCENARIO fiber_ring = {
    "fiber-ring", start_ring, {open_gate, open_other_gate}, finish_ring, 3, 3,
};

/* A promise that a fiber waits for adopts the fiber's promise: one of the two is refused, or both.
 */
static void adopt(void) {
    vow_resolve(it.resolver, vow_from_promise(vow_promise_retain(fibers[0].promise)));
}

static void finish_adopted(void) {
    bool is_refused = fibers[0].second == VOW_ECYCLE;
    vow_value error;
    CHECK(is_refused || fibers[0].second == VOW_REJECTED);
    check_settled(fibers[0].promise, VOW_FULFILLED, 5);
    bool is_rejected = vow_await(it.promise, VOW_FOREVER, &error) == VOW_REJECTED;
    CHECK(!is_rejected || vow_error_code(error) == VOW_ECYCLE);
    CHECK(is_rejected || is_refused);
    vow_value_release(error);
    end(is_refused + 2 * is_rejected - 1);
}

SCENARIO fiber_ring_adopted = {
    "fiber-ring-adopted", start, {open_gate, adopt}, finish_adopted, 4, 3,
};
