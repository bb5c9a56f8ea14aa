/* Plain links: no handler for a rejection, nothing to destroy, no token. They are marked on the way
 * up, hand over hand, and what passes them comes down in a loop. */
#include "cancel_tools.h"

#define LINKS 3

/* A chain; of each link the program has a handle, or not. */
static vow_promise *chain[LINKS];
static int ran[LINKS];
static bool other_has_cancelled, has_rejected;

static vow_value count(vow_value value, void *context) {
    (*(int *)context)++;
    CHECK(value.kind == VOW_INT);
    return vow_int(value.as.integer + 1);
}

/* The middle one on that executor, or all inline. */
static void build(vow_executor *middle, unsigned held) {
    start();
    other_has_cancelled = has_rejected = false;
    vow_executor_set_default(vow_executor_inline());
    vow_promise *next = vow_promise_retain(it.promise);
    for (int i = 0; i < LINKS; i++) {
        ran[i] = 0;
        const vow_reaction reaction = {
            .size = sizeof reaction, .on_fulfilled = count, .context = &ran[i], .executor = middle};
        next = i == 1 && middle ? vow_then_with(next, &reaction) : vow_then(next, count, &ran[i]);
        chain[i] = NULL;
        if (i < LINKS - 1 && (held & 1u << i)) {
            chain[i] = vow_promise_retain(next);
        }
    }
    chain[LINKS - 1] = next;
    let_go_of_promise();
    vow_executor_set_default(NULL);
}

static void start_held_at_its_end(void) {
    build(NULL, 0);
}

static void start_held_in_the_middle(void) {
    build(NULL, 1u << 1);
}

static void start_held_at_both_ends(void) {
    build(NULL, 1u << 0);
}

static void start_on_an_executor(void) {
    list_executor_make(&executor);
    build(executor.handle, 0);
}

static bool cancel_with_reason(int i) {
    return vow_cancel_with(chain[i], vow_error("test", 9, NULL));
}

static void cancel_end(void) {
    has_cancelled[0] = cancel_with_reason(LINKS - 1);
}

static void cancel_end_too(void) {
    other_has_cancelled = cancel_with_reason(LINKS - 1);
}

static void cancel_first(void) {
    has_cancelled[1] = cancel_with_reason(0);
}

static void reject(void) {
    has_rejected = vow_reject(it.resolver, vow_error("test", 7, NULL));
    ended = true;
}

static void drop_end(void) {
    vow_promise_release(chain[LINKS - 1]);
    chain[LINKS - 1] = NULL;
}

/* A second reader of the middle, which gives the handle up. */
static vow_promise *branch;
static int branched;

static void branch_off(void) {
    const vow_reaction reaction = {.size = sizeof reaction,
                                   .on_fulfilled = count,
                                   .context = &branched,
                                   .executor = vow_executor_inline()};
    branch = vow_then_with(chain[1], &reaction);
    chain[1] = NULL;
}

static void clean_up(void) {
    for (int i = 0; i < LINKS; i++) {
        vow_promise_release(chain[i]);
    }
    let_go();
}

/* One outcome for all, which nobody has overtaken: what the end has, and how many handlers ran. */
static void finish_end(void) {
    const int64_t content = content_of_promise(chain[LINKS - 1]);
    const bool is_cancelled = has_cancelled[0] || other_has_cancelled;
    CHECK(!(has_cancelled[0] && other_has_cancelled));
    if (content == VOW_ECANCELLED) {
        /* An inline handler may have begun. */
        CHECK(is_cancelled && ran[2] <= ran[1] && ran[1] <= ran[0]);
        CHECK(ran[0] == 0 || has_resolved);
    } else if (content == 7) {
        CHECK(has_rejected && ran[0] + ran[1] + ran[2] == 0);
    } else {
        CHECK(has_resolved && !is_cancelled && content == 4);
        CHECK(ran[0] == 1 && ran[1] == 1 && ran[2] == 1);
    }
    outcome(content == VOW_ECANCELLED ? 0 : 1);
    clean_up();
}

SCENARIO plain_resolve = {
    "plain-resolve", start_held_at_its_end, {cancel_end, resolve}, finish_end, 4, 2,
};

SCENARIO plain_reject = {
    "plain-reject", start_held_at_its_end, {cancel_end, reject}, finish_end, 3, 2,
};

SCENARIO plain_twice = {
    "plain-twice", start_held_at_its_end, {cancel_end, cancel_end_too, reject}, finish_end, 2, 2,
};

/* Cancelled at its end and at its beginning. */
static void finish_both(void) {
    const int64_t first = content_of_promise(chain[0]);
    const int64_t last = content_of_promise(chain[LINKS - 1]);
    CHECK(first == VOW_ECANCELLED || (first == 7 && has_rejected));
    CHECK(last == VOW_ECANCELLED || (last == 7 && first == 7));
    CHECK(has_cancelled[0] || last == first);
    CHECK(ran[0] + ran[1] + ran[2] == 0);
    outcome(!has_cancelled[0] ? 0 : first == 7 ? 2 : 1);
    clean_up();
}

SCENARIO plain_both_ends = {
    "plain-both-ends", start_held_at_both_ends, {cancel_end, cancel_first}, finish_both, 3, 2,
};

SCENARIO plain_both_ends_reject = {
    "plain-both-ends-reject",
    start_held_at_both_ends,
    {cancel_end, cancel_first, reject},
    finish_both,
    2,
    3,
};

/* Somebody else comes to read the middle while the end is cancelled. */
static void start_branching(void) {
    start_held_in_the_middle();
    branch = NULL;
    branched = 0;
}

static void finish_branch(void) {
    CHECK(has_cancelled[0] && content_of_promise(chain[LINKS - 1]) == VOW_ECANCELLED);
    resolve();
    CHECK(has_resolved && ran[0] == 1 && ran[1] == 1 && ran[2] == 0 && branched == 1);
    CHECK(content_of_promise(branch) == 4);
    vow_promise_release(branch);
    outcome(0);
    clean_up();
}

SCENARIO plain_branch = {
    "plain-branch", start_branching, {cancel_end, branch_off}, finish_branch, 4, 1,
};

/* The end is given up while what passes it comes down: freed by whoever is last. */
static void finish_dropped(void) {
    CHECK(has_rejected && ran[0] + ran[1] + ran[2] == 0);
    outcome(0);
    clean_up();
}

SCENARIO plain_drop = {
    "plain-drop", start_held_at_its_end, {drop_end, reject}, finish_dropped, 4, 1,
};

/* The middle one is its executor's, which has it, or is about to. */
static void work(void) {
    list_executor_work_until(&executor, &ended);
}

static void finish_on_an_executor(void) {
    list_executor_drain(&executor);
    vow_executor_release(executor.handle);
    finish_end();
}

SCENARIO plain_executor_resolve = {
    "plain-executor-resolve",
    start_on_an_executor,
    {cancel_end, resolve, work},
    finish_on_an_executor,
    2,
    2,
};

SCENARIO plain_executor_reject = {
    "plain-executor-reject",
    start_on_an_executor,
    {cancel_end, reject, work},
    finish_on_an_executor,
    2,
    2,
};
