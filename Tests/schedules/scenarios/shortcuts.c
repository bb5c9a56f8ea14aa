/* What settles, begins or ends in one step because nobody else is there, and who comes all the
 * same. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it, other;
static watched links[2];
static call calls[3];
static list_executor executor;
static bool has_cancelled[2], has_resolved;

static void start(void) {
    it = defer();
    other = defer();
    memset(links, 0, sizeof links);
    memset(calls, 0, sizeof calls);
    has_cancelled[0] = has_cancelled[1] = has_resolved = false;
}

static void let_go(void) {
    for (int i = 0; i < 2; i++) {
        let_go_of_watched(&links[i]);
    }
    release(&it);
    release(&other);
}

static void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(7));
}

static void give_up_link(void) {
    let_go_of_watched(&links[0]);
}

/* A link's first reader comes, and a second one, while it settles. */
static int ran_at_once;

static void start_link(void) {
    start();
    watch(&links[0], it.promise, NULL, NULL);
}

static void read_link(void) {
    on_settled(links[0].promise, NULL, &calls[0]);
    on_settled(links[0].promise, NULL, &calls[1]);
}

static void resolve_and_look(void) {
    resolve();
    ran_at_once = calls[0].times + calls[1].times;
}

static void finish_link(void) {
    check_order(calls, 2);
    check_once(&calls[0], false, RESULT);
    check_once(&calls[1], false, RESULT);
    outcome(ran_at_once);
    let_go();
}

SCENARIO link_two_readers = {
    "link-two-readers", start_link, {read_link, resolve_and_look}, finish_link, 3, 3,
};

/* The only member of a promise runs, while others come. */
static void start_only_member(void) {
    start();
    calls[0].inside = scheduler_point;
    on_settled(it.promise, NULL, &calls[0]);
}

static void come_late(void) {
    on_settled(it.promise, NULL, &calls[1]);
    on_settled(it.promise, NULL, &calls[2]);
}

static void finish_only_member(void) {
    check_order(calls, 3);
    for (int i = 0; i < 3; i++) {
        check_once(&calls[i], false, 7);
    }
    outcome(calls[1].started < calls[1].registered);
    let_go();
}

SCENARIO only_member = {
    "only-member", start_only_member, {resolve, come_late}, finish_only_member, 3, 2,
};

/* The promise's handles go while its only member runs. */
static vow_resolver *second;

static void let_go_of_all(void) {
    vow_promise_release(it.promise);
    vow_resolver_release(it.resolver);
    it.promise = NULL;
    it.resolver = NULL;
}

static void start_last_reader(void) {
    start_only_member();
    second = it.resolver;
    vow_resolver_retain(second);
}

static void resolve_and_let_go(void) {
    has_resolved = vow_resolve(second, vow_int(7));
    vow_resolver_release(second);
}

static void finish_last_reader(void) {
    CHECK(has_resolved);
    check_once(&calls[0], false, 7);
    outcome(0);
    let_go();
}

SCENARIO last_reader = {
    "last-reader", start_last_reader, {resolve_and_let_go, let_go_of_all}, finish_last_reader, 4, 1,
};

/* A link is cancelled and given up at once: before its handler begins, while it runs, or not. */
static void start_given_up(void) {
    start();
    links[0].inside = scheduler_point;
    watch(&links[0], it.promise, NULL, NULL);
}

static void cancel_and_give_up(void) {
    has_cancelled[0] = vow_cancel_with(links[0].promise, vow_error("test", 9, NULL));
    give_up_link();
}

static void finish_given_up(void) {
    check_watched(&links[0]);
    CHECK(has_resolved && (has_cancelled[0] || links[0].fulfilled == 1));
    outcome(has_cancelled[0] + links[0].fulfilled * 2 - 1);
    let_go();
}

SCENARIO cancel_released = {
    "cancel-released", start_given_up, {cancel_and_give_up, resolve}, finish_given_up, 4, 3,
};

/* The same at an executor. */
static void start_at_executor(void) {
    start();
    list_executor_make(&executor);
    links[0].inside = scheduler_point;
    watch(&links[0], it.promise, executor.handle, NULL);
    resolve();
}

static void work(void) {
    list_executor_work(&executor, 1);
}

static void finish_at_executor(void) {
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
    finish_given_up();
}

SCENARIO cancel_released_running = {
    "cancel-released-running",
    start_at_executor,
    {cancel_and_give_up, work},
    finish_at_executor,
    4,
    3,
};

/* An inline handler cancels its own link, and so does another thread. */
static void cancel_from_inside(void) {
    has_cancelled[0] = vow_cancel(links[0].promise);
}

static void cancel_from_outside(void) {
    has_cancelled[1] = vow_cancel(links[0].promise);
}

static void start_cancel_itself(void) {
    start();
    links[0].inside = cancel_from_inside;
    watch(&links[0], it.promise, NULL, NULL);
    on_settled(links[0].promise, NULL, &calls[0]);
}

static void finish_cancel_itself(void) {
    CHECK(has_resolved && has_cancelled[0] + has_cancelled[1] == 1);
    CHECK(fate_of(&links[0]) == links[0].fulfilled);
    check_once(&calls[0], true, VOW_ECANCELLED);
    outcome(has_cancelled[0] ? 2 : links[0].fulfilled);
    let_go();
}

SCENARIO cancel_itself = {
    "cancel-itself",
    start_cancel_itself,
    {resolve, cancel_from_outside},
    finish_cancel_itself,
    4,
    3,
};

/* What followed a link is given up: its interest ends while the link's handler runs. */
static void start_followed(void) {
    start_given_up();
    resolve_with(&other, &(deferred){links[0].promise, NULL});
    give_up_link();
}

static void give_up_follower(void) {
    vow_promise_release(other.promise);
    other.promise = NULL;
}

static void finish_followed(void) {
    check_watched(&links[0]);
    CHECK(has_resolved && links[0].fulfilled == 1);
    outcome(0);
    let_go();
}

SCENARIO release_follower_of_link = {
    "release-follower-of-link", start_followed, {resolve, give_up_follower}, finish_followed, 4, 1,
};

/* The first of two inline handlers waits inside; the second may have to run there. */
static int moment, began[3], ended[3];

static vow_value wait_inside(vow_value input, void *context) {
    vow_value value;
    (void)input;
    (void)context;
    began[0] = ++moment;
    CHECK(vow_await(other.promise, VOW_FOREVER, &value) == VOW_FULFILLED);
    ended[0] = ++moment;
    return vow_none();
}

static vow_value note(vow_value input, void *context) {
    int number = *(const int *)context;
    CHECK(input.as.integer == 7);
    began[number] = ++moment;
    scheduler_point();
    ended[number] = ++moment;
    return vow_none();
}

static void read_inline(vow_handler handler, int number) {
    static const int numbers[3] = {0, 1, 2};
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.context = (void *)&numbers[number];
    reaction.executor = vow_executor_inline();
    vow_promise_release(vow_then_with(vow_promise_retain(it.promise), &reaction));
}

static void start_waiting(void) {
    start();
    moment = 0;
    memset(began, 0, sizeof began);
    memset(ended, 0, sizeof ended);
    read_inline(wait_inside, 0);
    read_inline(note, 1);
}

static void resolve_other_and_come(void) {
    CHECK(vow_resolve(other.resolver, vow_int(1)));
    read_inline(note, 2);
}

static void finish_waiting(void) {
    CHECK(has_resolved);
    for (int i = 0; i < 3; i++) {
        CHECK(began[i] > 0 && ended[i] > began[i]);
    }
    CHECK(began[0] < began[1]);
    outcome((began[1] < ended[0]) + (began[2] < ended[0] && began[2] > began[0]));
    let_go();
}

SCENARIO first_of_two_waits = {
    "first-of-two-waits", start_waiting, {resolve, resolve_other_and_come}, finish_waiting, 3, 3,
};

/* Or the second of them waits: what the first one owes is given back before. */
static void start_second_waits(void) {
    start();
    moment = 0;
    memset(began, 0, sizeof began);
    memset(ended, 0, sizeof ended);
    read_inline(note, 1);
    read_inline(wait_inside, 0);
}

static void finish_second_waits(void) {
    CHECK(has_resolved);
    CHECK(began[1] > 0 && ended[1] < began[0] && ended[1] < began[2]);
    CHECK(ended[0] > 0 && ended[2] > 0);
    outcome(began[2] < ended[0]);
    let_go();
}

SCENARIO second_of_two_waits = {
    "second-of-two-waits",
    start_second_waits,
    {resolve, resolve_other_and_come},
    finish_second_waits,
    3,
    2,
};

/* `vow_then` where the default is inline: run inside the call where the promise is settled, and
 * behind the others where it is being delivered. */
static void start_default_inline(void) {
    vow_executor_set_default(vow_executor_inline());
    start_only_member();
}

static void then_twice(void) {
    vow_promise *derived = then_here(vow_promise_retain(it.promise), &calls[1]);
    vow_promise_release(then_here(derived, &calls[2]));
}

static void finish_default_inline(void) {
    vow_executor_set_default(NULL);
    check_order(calls, 2);
    check_once(&calls[0], false, 7);
    check_once(&calls[1], false, 7);
    CHECK(calls[2].times == 1 && calls[2].started > calls[1].started);
    outcome(calls[1].started < calls[1].registered);
    let_go();
}

SCENARIO then_at_once = {
    "then-at-once", start_default_inline, {resolve, then_twice}, finish_default_inline, 4, 2,
};
