/* Tests that 1,000 pool handlers which wait for each other all finish. */
#include "tools.h"

#define MOST 1000
#define EDGES 3

/* Under valgrind fewer, but more than the 64 workers that the pool sends. */
static int count(void) {
    return slowness() < 20 ? MOST : 100;
}

typedef struct crowd {
    vow_promise *ready;
    vow_resolver *open;
    vow_promise *tasks[MOST];
    vow_promise *given[MOST];
    vow_resolver *givers[MOST];
    struct member {
        struct crowd *all;
        int number;
        int wanted[EDGES]; /* the tasks that this one waits for; -1: none */
    } members[MOST];
    atomic_int finished;
} crowd;

static crowd *crowd_new(void) {
    crowd *all = calloc(1, sizeof *all);
    if (all == NULL) {
        abort();
    }
    all->ready = vow_promise_create(&all->open);
    for (int i = 0; i < count(); i++) {
        all->members[i].all = all;
        all->members[i].number = i;
        for (int edge = 0; edge < EDGES; edge++) {
            all->members[i].wanted[edge] = -1;
        }
        all->members[i].wanted[0] = i + 1 < count() ? i + 1 : -1;
    }
    return all;
}

/* Opens the gate and waits for all tasks. */
static void crowd_finish(crowd *all) {
    int finished = 0;
    CHECK(vow_resolve(all->open, vow_none()));
    for (int i = 0; i < count(); i++) {
        finished += vow_await(all->tasks[i], LONG_ENOUGH, NULL) == (int)VOW_FULFILLED;
        if (!CHECK_INT_EQ(finished, i + 1)) {
            return; /* handlers may still hang: the crowd is theirs, and the leak gate will tell */
        }
    }
    CHECK_INT_EQ(atomic_load(&all->finished), count());
    for (int i = 0; i < count(); i++) {
        vow_promise_release(all->tasks[i]);
        vow_promise_release(all->given[i]);
    }
    vow_resolver_release(all->open);
    vow_promise_release(all->ready);
    free(all);
}

static vow_value await_tasks(vow_value input, void *context) {
    struct member *self = context;
    (void)input;
    CHECK_INT_EQ(vow_await(self->all->ready, VOW_FOREVER, NULL), VOW_FULFILLED);
    for (int edge = 0; edge < EDGES; edge++) {
        if (self->wanted[edge] >= 0) {
            vow_promise *task = self->all->tasks[self->wanted[edge]];
            CHECK_INT_EQ(vow_await(task, VOW_FOREVER, NULL), VOW_FULFILLED);
        }
    }
    atomic_fetch_add(&self->all->finished, 1);
    return vow_none();
}

TEST("G11: 1,000 pool handlers that each await the next one's result all finish") {
    crowd *all = crowd_new();
    for (int i = 0; i < count(); i++) {
        all->tasks[i] = vow_async(vow_executor_pool(), await_tasks, &all->members[i]);
    }
    crowd_finish(all);
}

TEST("G11: so they do when all of them become ready in the same moment") {
    crowd *all = crowd_new();
    for (int i = 0; i < count(); i++) {
        all->tasks[i] = then_on(vow_executor_pool(), vow_promise_retain(all->ready), await_tasks,
                                &all->members[i]);
    }
    crowd_finish(all);
}

/* As above, but what is awaited is settled by hand, so that nobody knows who will settle it. */
static vow_value await_given(vow_value input, void *context) {
    struct member *self = context;
    (void)input;
    CHECK_INT_EQ(vow_await(self->all->ready, VOW_FOREVER, NULL), VOW_FULFILLED);
    if (self->wanted[0] >= 0) {
        vow_promise *other = self->all->given[self->wanted[0]];
        CHECK_INT_EQ(vow_await(other, VOW_FOREVER, NULL), VOW_FULFILLED);
    }
    CHECK(vow_resolve(self->all->givers[self->number], vow_int(self->number)));
    vow_resolver_release(self->all->givers[self->number]);
    atomic_fetch_add(&self->all->finished, 1);
    return vow_none();
}

static void crowd_give(crowd *all) {
    for (int i = 0; i < count(); i++) {
        all->given[i] = vow_promise_create(&all->givers[i]);
    }
}

/* Starts all tasks while the gate is closed, and gives them time to come to it. */
static void crowd_gather(crowd *all, vow_handler fn) {
    for (int i = 0; i < count(); i++) {
        all->tasks[i] = vow_async(vow_executor_pool(), fn, &all->members[i]);
    }
    usleep(200000);
}

/* Lets each wait for the one before it instead of the next one. */
static void crowd_turn_round(crowd *all) {
    for (int i = 0; i < count(); i++) {
        all->members[i].wanted[0] = i - 1;
    }
}

TEST("G11: 1,000 pool handlers that each await what the next one resolves by hand all finish") {
    crowd *all = crowd_new();
    crowd_give(all);
    for (int i = 0; i < count(); i++) {
        all->tasks[i] = then_on(vow_executor_pool(), vow_promise_retain(all->ready), await_given,
                                &all->members[i]);
    }
    crowd_finish(all);
}

TEST("G11: 1,000 pool handlers that wait at a gate and then for the next one all finish") {
    crowd *all = crowd_new();
    crowd_gather(all, await_tasks);
    crowd_finish(all);
}

TEST("G11: 1,000 pool handlers that wait at a gate and then for the one before all finish") {
    crowd *all = crowd_new();
    crowd_turn_round(all);
    crowd_gather(all, await_tasks);
    crowd_finish(all);
}

TEST("G11: so they do when the one before resolves by hand what they wait for") {
    crowd *all = crowd_new();
    crowd_give(all);
    crowd_turn_round(all);
    crowd_gather(all, await_given);
    crowd_finish(all);
}

TEST("G11: 1,000 pool handlers that await each other without a pattern or a cycle all finish") {
    crowd *all = crowd_new();
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < count(); i++) {
        for (int edge = 0; edge < EDGES; edge++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            int left = count() - 1 - i;
            int step = left > 0 ? 1 + (int)(seed % (uint64_t)left) : 0;
            all->members[i].wanted[edge] = left > 0 ? i + step : -1;
        }
    }
    for (int i = 0; i < count(); i++) {
        all->tasks[i] = vow_async(vow_executor_pool(), await_tasks, &all->members[i]);
    }
    crowd_finish(all);
}
