/* Tests G7 for rows of promises that are linked by their resolvers, or by what handlers return
 * other than those of plain links: only as many are alive as are needed. */
#include "tools.h"

#define LEVELS 10000
#define MOST_LIVE 8

static int64_t live_before;
static int64_t most_live;

static void begin(void) {
    live_before = (int64_t)harness_stats().live;
    most_live = 0;
}

static void look(void) {
    int64_t live = (int64_t)harness_stats().live - live_before;
    most_live = live > most_live ? live : most_live;
}

/* A row of promises, each resolved with the next, of which somebody holds the first. */
static int64_t outcome_of_row(vow_promise *first, vow_resolver *last) {
    CHECK(most_live <= MOST_LIVE);
    CHECK_INT_EQ(vow_promise_state(first), VOW_PENDING);
    CHECK(vow_resolve(last, vow_int(7)));
    vow_resolver_release(last);
    return int_of(first);
}

/* What is given back a level later than it could be. */
typedef enum late { NOTHING, RESOLVERS, PROMISES } late;

static void check_row(late late) {
    begin();
    vow_resolver *before = NULL;
    vow_promise *held = NULL;
    vow_resolver *previous;
    vow_promise *first = vow_promise_create(&previous);
    for (int i = 0; i < LEVELS; i++) {
        vow_resolver *resolver;
        vow_promise *next = vow_promise_create(&resolver);
        vow_promise *kept = late == PROMISES ? vow_promise_retain(next) : NULL;
        CHECK(vow_resolve(previous, vow_from_promise(next)));
        vow_resolver_release(late == RESOLVERS ? before : previous);
        vow_promise_release(held);
        before = previous;
        held = kept;
        previous = resolver;
        look();
    }
    vow_resolver_release(late == RESOLVERS ? before : NULL);
    vow_promise_release(held);
    CHECK_INT_EQ(outcome_of_row(first, previous), 7);
}

TEST("G7: a resolver that is given back after it was used keeps nothing in the row") {
    check_row(NOTHING);
}

TEST("G7: nor one that is kept for another level") {
    check_row(RESOLVERS);
}

TEST("G7: nor does a promise that is given back after it was adopted") {
    check_row(PROMISES);
}

typedef struct row {
    vow_executor *executor;
    vow_resolver *previous;
    int left;
    atomic_int is_over;
} row;

static vow_value next_of_row(vow_value input, void *context) {
    row *self = context;
    (void)input;
    vow_resolver *previous = self->previous;
    look();
    if (self->left-- == 0) {
        CHECK(vow_resolve(previous, vow_int(7)));
        vow_resolver_release(previous);
        atomic_store(&self->is_over, 1);
        return vow_none();
    }
    vow_promise *next = vow_promise_create(&self->previous);
    CHECK(vow_resolve(previous, vow_from_promise(next)));
    vow_resolver_release(previous);
    vow_promise_release(vow_async(self->executor, next_of_row, self));
    return vow_none();
}

TEST("G7: nor does a row of handlers that resolve one another on a serial executor") {
    begin();
    row self = {.executor = vow_executor_serial("row"), .left = LEVELS};
    vow_promise *first = vow_promise_create(&self.previous);
    vow_promise_release(vow_async(self.executor, next_of_row, &self));
    CHECK(reaches(&self.is_over, 1));
    CHECK(most_live <= MOST_LIVE);
    CHECK_INT_EQ(int_of(first), 7);
    vow_executor_release(self.executor);
}

static vow_value fail_again(vow_value error, void *context) {
    int *left = context;
    (void)error;
    look();
    if ((*left)-- == 0) {
        return vow_int(7);
    }
    return vow_from_promise(
        vow_catch_if(rejected_code(1), "test", VOW_ANY_CODE, fail_again, context));
}

TEST("G7: nor does a level of a recursion through vow_catch_if") {
    begin();
    vow_executor *serial = vow_executor_serial("recursion");
    vow_executor *executors[] = {vow_executor_inline(), serial};
    for (int i = 0; i < 2; i++) {
        int left = LEVELS;
        vow_executor_set_default(executors[i]);
        CHECK_INT_EQ(int_of(vow_catch_if(rejected_code(1), NULL, 1, fail_again, &left)), 7);
        CHECK(most_live <= MOST_LIVE);
    }
    vow_executor_set_default(NULL);
    vow_executor_release(serial);
}
