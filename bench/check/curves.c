/* What must not become dearer for each one because there are many: each was quadratic once. One
 * size and the double and fourfold of it are run, and what an item costs is compared. */
#define _GNU_SOURCE
#include "check.h"
#include "workloads.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t called; /* hooks and listeners */

static void count_call(void *context) {
    (void)context;
    called++;
}

static void release_resolvers(size_t count) {
    for (size_t i = 0; i < count; i++) {
        vow_resolver_release(resolvers[i]);
    }
}

static void cancel_all_with_hooks(size_t size) {
    make(size);
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolver_on_cancel(resolvers[i], count_call, NULL, NULL) == 0);
    }
    measure_begin();
    vow_promise *all = vow_all(promises, size);
    CHECK(vow_cancel(all));
    vow_promise_release(all);
    measure_end();
    CHECK(called == size);
    release_resolvers(size);
    items = size;
}

static void scope_with_hooks(size_t size) {
    make(size);
    vow_scope *scope = vow_scope_create();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolver_on_cancel(resolvers[i], count_call, NULL, NULL) == 0);
        CHECK(vow_scope_add(scope, promises[i]) == 0);
    }
    measure_begin();
    vow_scope_cancel(scope);
    measure_end();
    vow_scope_release(scope);
    CHECK(called == size);
    release_resolvers(size);
    items = size;
}

/* One half is called, the other destroyed. */
static void tokens_hooks(size_t size) {
    for (int cancels = 0; cancels < 2; cancels++) {
        vow_cancel_source *source = vow_cancel_source_create();
        vow_token *token = vow_cancel_source_token(source);
        for (size_t i = 0; i < size; i++) {
            CHECK(vow_token_on_cancel(token, count_call, NULL, cancels ? NULL : count_call) == 0);
        }
        measure_begin();
        CHECK(!cancels || vow_cancel_source_cancel(source));
        vow_cancel_source_release(source);
        measure_end();
    }
    CHECK(called == 2 * size);
    items = size;
}

enum { WIDE = 4 };

static vow_value add_up(vow_value list, void *context) {
    (void)context;
    ran++;
    return vow_int((int64_t)vow_list_count(list));
}

static vow_value wait_a_moment(vow_value input, void *context) {
    (void)input;
    measure_begin();
    CHECK(vow_await(context, 1, NULL) == VOW_PENDING);
    measure_end();
    return vow_none();
}

/* Each layer's tasks wait for all of the layer before. */
static void layered_graph(size_t size) {
    vow_promise *layer[WIDE], *next[WIDE];
    make(WIDE);
    memcpy(layer, promises, sizeof layer);
    for (size_t i = 0; i < size; i++) {
        for (int task = 0; task < WIDE; task++) {
            for (int member = 0; member < WIDE; member++) {
                vow_promise_retain(layer[member]);
            }
            next[task] = vow_then(vow_all(layer, WIDE), add_up, NULL);
        }
        for (int member = 0; member < WIDE; member++) {
            vow_promise_release(layer[member]);
        }
        memcpy(layer, next, sizeof layer);
    }
    vow_promise *all = vow_all(layer, WIDE);
    vow_promise_release(vow_then(vow_promise_with(vow_none()), wait_a_moment, all));
    for (size_t i = 0; i < WIDE; i++) {
        resolve(i);
    }
    CHECK(vow_promise_state(all) == VOW_FULFILLED && ran == size * WIDE);
    vow_promise_release(all);
    items = size;
}

/* Watched by a loop, cancelled oldest first. */
static void watch_and_cancel(size_t size, const int *descriptors) {
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        promises[i] = vow_fd_ready(descriptors[i], VOW_READ);
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_cancel(promises[i]));
        vow_promise_release(promises[i]);
    }
    measure_end();
    items = size;
}

static int descriptors[MOST];

static void watches_of_one(size_t size) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    vow_loop *loop = vow_loop_create();
    for (size_t i = 0; i < size; i++) {
        descriptors[i] = ends[0];
    }
    watch_and_cancel(size, descriptors);
    vow_loop_destroy(loop);
}

static void watches_of_many(size_t size) {
    struct rlimit limit;
    int ends[2];
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(pipe(ends) == 0);
    vow_loop *loop = vow_loop_create();
    for (size_t i = 0; i < size; i++) {
        descriptors[i] = dup(ends[0]);
        CHECK(descriptors[i] >= 0);
    }
    watch_and_cancel(size, descriptors);
    vow_loop_destroy(loop);
}

static void count_progress(double fraction, const char *note, void *context) {
    (void)fraction;
    (void)note;
    (void)context;
    called++;
}

static void listeners_of_one(size_t size) {
    make(1);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_on_progress(promises[0], 0, count_progress, NULL, NULL) == 0);
    }
    CHECK(vow_promise_set_progress(promises[0], 0.5, NULL) == 0);
    CHECK(vow_promise_set_progress(promises[0], 1, NULL) == 0);
    CHECK(called == 2 * size);
    resolve(0);
    release_promises(1);
    measure_end();
    items = size;
}

static void listeners_of_many(size_t size) {
    make(size);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_on_progress(promises[i], 0, count_progress, NULL, NULL) == 0);
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_promise_set_progress(promises[i], 0.5, NULL) == 0);
    }
    CHECK(called == size);
    for (size_t i = 0; i < size; i++) {
        resolve(i);
    }
    release_promises(size);
    measure_end();
    items = size;
}

/* Each follows the first promise, and is given up, the oldest first. */
static void follow_first(size_t size) {
    vow_resolver *resolver;
    vow_promise *first = vow_promise_create(&resolver);
    make(size);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_from_promise(vow_promise_retain(first))));
    }
    for (size_t i = 0; i < size; i += 2) {
        CHECK(vow_cancel(promises[i]));
        vow_promise_release(promises[i]);
    }
    for (size_t i = 1; i < size; i += 2) {
        vow_promise_release(promises[i]);
    }
    measure_end();
    release_resolvers(size);
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
    vow_promise_release(first);
    items = size;
}

/* Without an order, and then those that came meanwhile, oldest first. */
static void give_up_reactions(size_t size) {
    make(1);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        derived[i] = vow_then(vow_promise_retain(promises[0]), add_up, NULL);
    }
    for (size_t i = 0; i < size; i++) {
        size_t place = i * 7919 % size;
        CHECK(vow_cancel(derived[place]));
        vow_promise_release(derived[place]);
        derived[place] = vow_then(vow_promise_retain(promises[0]), add_up, NULL);
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_cancel(derived[i]));
        vow_promise_release(derived[i]);
    }
    measure_end();
    resolve(0);
    release_promises(1);
    items = size;
}

/* As many races as there are followers of a promise that none of them settles. */
static void races(size_t size) {
    vow_resolver *resolver;
    vow_promise *first = vow_promise_create(&resolver);
    make(size);
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_from_promise(vow_promise_retain(first))));
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_promise *members[2] = {vow_promise_retain(first), vow_promise_with(vow_int(1))};
        vow_promise *race = vow_race(members, 2);
        CHECK(vow_promise_state(race) == VOW_FULFILLED);
        vow_promise_release(race);
    }
    measure_end();
    release_promises(size);
    release_resolvers(size);
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
    vow_promise_release(first);
    items = size;
}

/* Each follows the one before, which is held; the last one is read by all. */
static void followers_of_chain(size_t size) {
    vow_promise *other;
    vow_resolver *resolver;
    make(size);
    for (size_t i = 1; i < size; i++) {
        CHECK(vow_resolve(resolvers[i - 1], vow_from_promise(vow_promise_retain(promises[i]))));
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        other = vow_promise_create(&resolver);
        CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(promises[0]))));
        vow_resolver_release(resolver);
        derived[i] = other;
    }
    measure_end();
    CHECK(vow_resolve(resolvers[size - 1], vow_int(1)));
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_promise_state(derived[i]) == VOW_FULFILLED);
        vow_promise_release(derived[i]);
    }
    release_promises(size);
    release_resolvers(size);
    items = size;
}

static void submit_nothing(void *context, void (*run)(void *work), void *work) {
    (void)context;
    run(work);
}

static bool is_first(void *context) {
    return context == descriptors;
}

static const vow_executor_class own_class = {sizeof own_class, submit_nothing, is_first, NULL, 0};

static void custom_executors(size_t size) {
    vow_executor **executors = malloc(size * sizeof *executors);
    CHECK(executors != NULL);
    for (size_t i = 0; i < size; i++) {
        executors[i] = vow_executor_custom(&own_class, i == 0 ? descriptors : NULL);
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_executor_current() == executors[0]);
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        vow_executor_release(executors[i]);
    }
    free(executors);
    items = size;
}

const workload curves[] = {
    {"hooks-of-all", "a cancelled promise of all(n), with a hook", 1000, cancel_all_with_hooks,
     false},
    {"hooks-of-scope", "a cancelled promise of a scope, with a hook", 1000, scope_with_hooks,
     false},
    {"hooks-of-token", "a hook of a token", 1000, tokens_hooks, false},
    {"layers", "a layer that a wait in a handler looks through", 12, layered_graph, false},
    {"watches-of-one", "a watch of a descriptor", 500, watches_of_one, false},
    {"watches-of-many", "a watch, of a descriptor of its own", 1000, watches_of_many, false},
    {"listeners-of-one", "a listener of a promise", 1000, listeners_of_one, false},
    {"reactions", "a reaction that is given up", 1000, give_up_reactions, false},
    {"races", "a race, a member of which has followers", 1000, races, false},
    /* Quadratic still, so without a budget. */
    {"listeners-of-many", "a listener, of a promise of its own", 1000, listeners_of_many, false},
    {"followers", "a follower of a promise that is given up", 1000, follow_first, false},
    {"long-chain", "a follower of a chain of followers", 500, followers_of_chain, false},
    {"custom-executors", "an executor that knows its threads", 500, custom_executors, false},
};
const size_t curve_count = sizeof curves / sizeof *curves;
