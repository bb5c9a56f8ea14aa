/* Tests chapter 15: progress that is said inside of handlers and calls, without a handle. */
#include "worker.h"

typedef struct heard {
    int calls;
    double last;
    char note[16];
} heard;

static void hear(double fraction, const char *note, void *context) {
    heard *it = context;
    it->calls++;
    it->last = fraction;
    snprintf(it->note, sizeof it->note, "%s", note != NULL ? note : "");
}

/* Inline, so that it is told inside the call that says it. */
static void listen_to(vow_promise *promise, heard *it) {
    vow_call call = {.size = sizeof call, .context = it, .executor = vow_executor_inline()};
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, hear, &call), 0);
}

static void says(heard *it, double fraction, const char *note) {
    CHECK(it->last > fraction - 1e-6 && it->last < fraction + 1e-6);
    CHECK_STR_EQ(it->note, note);
}

/* What handlers return, so that their promise is still pending when the listener's turn comes. */
static vow_promise *pending;

static vow_value wait_for_it(vow_value input) {
    (void)input;
    return vow_from_promise(vow_promise_retain(pending));
}

static vow_value half_way(vow_value input, void *context) {
    (void)context;
    CHECK_INT_EQ(vow_current_set_progress(0.5, "half"), 0);
    return wait_for_it(input);
}

static vow_value say_more(vow_value input, void *context) {
    (void)context;
    CHECK_INT_EQ(vow_current_set_progress(0.25, NULL), 0);
    CHECK_INT_EQ(vow_current_set_progress(0.75, "more"), 0);
    return wait_for_it(input);
}

static void run_all(vow_loop *loop) {
    while (vow_loop_run_once(loop, 0) > 0) {
    }
}

TEST("outside of handlers it does nothing; no number is refused") {
    CHECK_INT_EQ(vow_current_set_progress(0.5, "nothing"), 0);
    CHECK_INT_EQ(vow_current_set_progress(0.0 / 0.0, NULL), VOW_EINVAL);
}

TEST("a handler says it of its own promise, and an async call of its own") {
    vow_resolver *resolver;
    heard of_link = {0}, of_call = {0};
    vow_loop *loop = vow_loop_create();
    pending = vow_promise_create(&resolver);
    vow_promise *link = vow_then(vow_promise_with(vow_none()), say_more, NULL);
    vow_promise *call = vow_async(vow_loop_executor(loop), half_way, NULL);
    listen_to(link, &of_link);
    listen_to(call, &of_call);
    run_all(loop);
    says(&of_link, 0.75, "more");
    says(&of_call, 0.5, "half");
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(vow_promise_state(link), VOW_FULFILLED);
    vow_promise_release(link);
    vow_promise_release(call);
    vow_promise_release(pending);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}

/* Item 0 is at 1/2 while item 1 is at 3/4. */
static vow_value say_of_item(vow_value item, void *context) {
    CHECK_INT_EQ(vow_current_set_progress(item.as.integer == 0 ? 0.5 : 0.75, "item"), 0);
    return vow_from_promise(vow_promise_retain(((vow_promise **)context)[item.as.integer]));
}

TEST("an item of vow_map counts as its share, with the others that are under way or done") {
    vow_loop *loop = vow_loop_create();
    heard it = {0};
    vow_resolver *resolvers[2];
    vow_promise *results[2] = {vow_promise_create(&resolvers[0]),
                               vow_promise_create(&resolvers[1])};
    vow_value items[4] = {vow_int(0), vow_int(1), vow_int(0), vow_int(1)};
    vow_promise *map = vow_map(vow_list(items, 4), say_of_item, results, 2);
    listen_to(map, &it);
    run_all(loop);
    says(&it, (0.5 + 0.75) / 4, "item");
    CHECK(vow_resolve(resolvers[0], vow_none()));
    run_all(loop);
    /* Two are done, one is under way, and the last one begins. */
    CHECK(it.last > 2.0 / 4 && it.last < 1);
    CHECK(vow_resolve(resolvers[1], vow_none()));
    CHECK_INT_EQ(vow_await(map, LONG_ENOUGH, NULL), VOW_FULFILLED);
    vow_promise_release(map);
    for (int i = 0; i < 2; i++) {
        vow_promise_release(results[i]);
        vow_resolver_release(resolvers[i]);
    }
    vow_loop_destroy(loop);
}

static vow_value add_half(vow_value sum, vow_value item, void *context) {
    (void)context;
    CHECK_INT_EQ(vow_current_set_progress(0.5, "adding"), 0);
    return item.as.integer == 3 ? wait_for_it(item) : vow_int(sum.as.integer + item.as.integer);
}

TEST("an item of vow_reduce, too") {
    heard it = {0};
    vow_resolver *resolver;
    vow_loop *loop = vow_loop_create();
    pending = vow_promise_create(&resolver);
    vow_promise *members[4] = {vow_promise_with(vow_int(1)), vow_promise_with(vow_int(2)),
                               vow_promise_with(vow_int(3)), vow_promise_with(vow_int(4))};
    vow_promise *sum = vow_reduce(members, 4, vow_int(0), add_half, NULL);
    listen_to(sum, &it);
    run_all(loop);
    says(&it, 2.5 / 4, "adding");
    CHECK(vow_resolve(resolver, vow_int(6)));
    CHECK_INT_EQ(int_of(sum), 10);
    vow_promise_release(pending);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}

static bool once_more(vow_value state, void *context) {
    (void)context;
    return state.as.integer < 3;
}

static vow_value step(vow_value state, void *context) {
    (void)context;
    CHECK_INT_EQ(vow_current_set_progress((double)(state.as.integer + 1) / 4, "step"), 0);
    return state.as.integer == 2 ? wait_for_it(state) : vow_int(state.as.integer + 1);
}

static vow_value fail_twice(vow_value attempt, void *context) {
    (void)context;
    CHECK_INT_EQ(vow_current_set_progress((double)attempt.as.integer / 4, "attempt"), 0);
    return attempt.as.integer < 3 ? vow_error("test", 1, "again") : wait_for_it(attempt);
}

TEST("vow_repeat and vow_retry say it of the whole") {
    vow_resolver *resolver;
    heard repeated = {0}, retried = {0};
    vow_loop *loop = vow_loop_create();
    pending = vow_promise_create(&resolver);
    vow_promise *repeat = vow_repeat(vow_int(0), once_more, step, NULL);
    vow_promise *retry = vow_retry(NULL, fail_twice, NULL);
    listen_to(repeat, &repeated);
    listen_to(retry, &retried);
    run_all(loop);
    says(&repeated, 0.75, "step");
    says(&retried, 0.75, "attempt");
    CHECK(vow_resolve(resolver, vow_int(3)));
    CHECK_INT_EQ(int_of(repeat), 3);
    CHECK_INT_EQ(int_of(retry), 3);
    vow_promise_release(pending);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}
