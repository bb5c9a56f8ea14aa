/* What must not become dearer for each one because there are many: each was quadratic once. One
 * size and the double and fourfold of it are run, and what an item costs is compared. */
#define _GNU_SOURCE
#include "check.h"
#include "workloads.h"

#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/* Half of those of a token, and of those of a producer, leave, in an order of its own; the rest is
 * called. */
static void registrations(size_t size) {
    static vow_registration *handles[2 * MOST];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_token_register(token, count_call, NULL, NULL, &handles[i]) == 0);
        CHECK(vow_resolver_register(resolver, count_call, NULL, NULL, &handles[MOST + i]) == 0);
    }
    for (size_t i = 0; i < size; i++) {
        size_t place = i * 7919 % size;
        if (place % 2 == 0) {
            CHECK(vow_registration_leave(handles[place]) == VOW_NEVER_RUNS);
            CHECK(vow_registration_leave(handles[MOST + place]) == VOW_NEVER_RUNS);
        }
    }
    CHECK(vow_cancel_source_cancel(source));
    CHECK(vow_cancel(promise));
    for (size_t i = 0; i < size; i++) {
        vow_registration_release(handles[i]);
        vow_registration_release(handles[MOST + i]);
    }
    measure_end();
    CHECK(called == size);
    vow_cancel_source_release(source);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    items = size;
}

static void cancel_registrations(size_t size) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_token_on_cancel(token, count_call, NULL, NULL) == 0);
    }
    measure_begin();
    CHECK(vow_cancel_source_cancel(source));
    measure_end();
    CHECK(called == size);
    vow_cancel_source_release(source);
    items = size;
}

static vow_value pass_on(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static void cancel_chain(size_t size) {
    make(1);
    vow_promise *end = promises[0];
    for (size_t i = 0; i < size; i++) {
        end = vow_then(end, pass_on, NULL);
    }
    measure_begin();
    CHECK(vow_cancel(end));
    vow_promise_release(end);
    measure_end();
    release_resolvers(1);
    items = size;
}

static void cancel_members(size_t size) {
    make(size);
    vow_promise *all = vow_all(promises, size);
    measure_begin();
    CHECK(vow_cancel(all));
    vow_promise_release(all);
    measure_end();
    release_resolvers(size);
    items = size;
}

/* Each is linked to the same one, and nobody has it, but its token. */
static void linked_sources(size_t size) {
    static vow_token *tokens[MOST];
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *of_parent = vow_cancel_source_token(parent);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        vow_cancel_source *child = vow_cancel_source_create_linked(&of_parent, 1);
        tokens[i] = vow_token_retain(vow_cancel_source_token(child));
        vow_cancel_source_release(child);
    }
    for (size_t i = 0; i < size; i++) {
        size_t place = i * 7919 % size;
        if (place % 2 == 0) {
            vow_token_release(tokens[place]);
        }
    }
    CHECK(vow_cancel_source_cancel(parent));
    for (size_t i = 1; i < size; i += 2) {
        CHECK(vow_token_is_cancelled(tokens[i]));
        vow_token_release(tokens[i]);
    }
    measure_end();
    vow_cancel_source_release(parent);
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
static void wait_for_graph(size_t size) {
    size_t before = ran;
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
    CHECK(vow_promise_state(all) == VOW_FULFILLED && ran == before + size * WIDE);
    vow_promise_release(all);
}

static void layered_graph(size_t size) {
    wait_for_graph(size);
    items = size;
}

static void deep_graphs(size_t size) {
    for (size_t i = 0; i < size; i++) {
        wait_for_graph(40);
    }
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

/* The same in no order, and while others come. */
static void follow_first_in_turn(size_t size) {
    vow_resolver *resolver;
    vow_promise *first = vow_promise_create(&resolver);
    make(size);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_resolve(resolvers[i], vow_from_promise(vow_promise_retain(first))));
    }
    for (size_t i = 0; i < size; i++) {
        size_t place = i * 7919 % size;
        CHECK(vow_cancel(promises[place]));
        vow_promise_release(promises[place]);
        vow_resolver_release(resolvers[place]);
        promises[place] = vow_promise_create(&resolvers[place]);
        CHECK(vow_resolve(resolvers[place], vow_from_promise(vow_promise_retain(first))));
    }
    measure_end();
    CHECK(vow_resolve(resolver, vow_none()));
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_promise_state(promises[i]) == VOW_FULFILLED);
    }
    release_promises(size);
    release_resolvers(size);
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

/* A chain as a mutex: each request's turn is a reaction to the turn before, and the request, which
 * somebody reads, follows its turn. */
static void chain_of_requests(size_t size) {
    make(size);
    vow_resolver *resolver;
    vow_promise *tail = vow_promise_create(&resolver);
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        derived[i] = vow_then(vow_promise_retain(promises[i]), add_up, NULL);
        tail = vow_then(tail, add_up, NULL);
        CHECK(vow_resolve(resolvers[i], vow_from_promise(vow_promise_retain(tail))));
    }
    measure_end();
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_promise_state(derived[i]) == VOW_FULFILLED);
        vow_promise_release(derived[i]);
    }
    vow_promise_release(tail);
    release_promises(size);
    release_resolvers(size);
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
    called++;
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
    CHECK(called == 2 * size - 1);
    for (size_t i = 0; i < size; i++) {
        vow_executor_release(executors[i]);
    }
    free(executors);
    items = size;
}

/* None of them is this thread's. */
static void executors_of_others(size_t size) {
    vow_executor **executors = malloc(size * sizeof *executors);
    CHECK(executors != NULL);
    for (size_t i = 0; i < size; i++) {
        executors[i] = vow_executor_custom(&own_class, NULL);
    }
    measure_begin();
    vow_executor *current = vow_executor_current();
    measure_end();
    CHECK(called == size);
    for (size_t i = 0; i < size; i++) {
        CHECK(current != executors[i]);
        vow_executor_release(executors[i]);
    }
    free(executors);
    items = size;
}

/* Each stands on a queue of its own, is found there once more, and goes, the oldest first. */
static void executors_on_queues(size_t size) {
    dispatch_queue_t *queues = malloc(size * sizeof *queues);
    vow_executor **executors = malloc(size * sizeof *executors);
    CHECK(queues != NULL && executors != NULL);
    for (size_t i = 0; i < size; i++) {
        queues[i] = dispatch_queue_create("check", NULL);
    }
    measure_begin();
    for (size_t i = 0; i < size; i++) {
        executors[i] = vow_executor_dispatch(queues[i], VOW_SERIAL);
    }
    for (size_t i = 0; i < size; i++) {
        vow_executor *again = vow_executor_dispatch(queues[i], VOW_SERIAL);
        CHECK(again == executors[i]);
        vow_executor_release(again);
    }
    for (size_t i = 0; i < size; i++) {
        vow_executor_release(executors[i]);
    }
    measure_end();
    for (size_t i = 0; i < size; i++) {
        dispatch_release(queues[i]);
    }
    free(queues);
    free(executors);
    items = size;
}

static const vow_executor_class serial_class = {sizeof serial_class, submit_nothing, NULL, NULL,
                                                VOW_SERIAL};

static _Atomic(pid_t) waiting[MOST]; /* the threads of the handlers that wait */

static vow_value wait_for_first(vow_value input, void *context) {
    (void)input;
    atomic_store((_Atomic(pid_t) *)context, (pid_t)syscall(SYS_gettid));
    CHECK(vow_await(promises[0], VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
    return vow_none();
}

/* 1,000 pieces of work for executors of each serial kind that none of the waiting handlers has to
 * do with. The queue rests and nobody runs the loop, so that nothing else happens meanwhile. */
static void submit_to_others(void) {
    dispatch_queue_t queue = dispatch_queue_create("check", NULL);
    vow_loop *loop = vow_loop_create();
    vow_executor *others[] = {vow_executor_dispatch(queue, VOW_SERIAL),
                              vow_executor_custom(&serial_class, NULL), vow_loop_executor(loop)};
    dispatch_suspend(queue);
    measure_begin();
    for (size_t i = 0; i < 1000; i++) {
        for (size_t kind = 0; kind < 3; kind++) {
            vow_promise *ready = vow_promise_with(vow_none());
            vow_promise_release(then_on(ready, count_run, others[kind]));
        }
    }
    measure_end();
    dispatch_resume(queue);
    dispatch_sync_f(queue, NULL, count_call);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    vow_executor_release(others[0]);
    vow_executor_release(others[1]);
    vow_loop_destroy(loop);
    dispatch_release(queue);
    CHECK(ran == 3000);
}

/* Handlers of one executor, or of one each, wait meanwhile. */
static void submit_beside_waits(size_t size, vow_executor *pool) {
    make(1);
    for (size_t i = 0; i < size; i++) {
        vow_executor *executor = pool != NULL ? pool : vow_executor_serial(NULL);
        derived[i] = vow_async(executor, wait_for_first, &waiting[i]);
        if (pool == NULL) {
            vow_executor_release(executor);
        }
    }
    for (size_t i = 0; i < size; i++) {
        while (atomic_load(&waiting[i]) == 0 || state_of(atomic_load(&waiting[i])) != 'S') {
            usleep(1000);
        }
    }
    submit_to_others();
    resolve(0);
    for (size_t i = 0; i < size; i++) {
        CHECK(vow_await(derived[i], VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
        vow_promise_release(derived[i]);
    }
    release_promises(1);
    vow_statistics now = {.size = sizeof now};
    do {
        usleep(1000);
        CHECK(vow_stats(&now) == 0);
    } while (now.live > 0);
    items = size;
}

static void beside_pool(size_t size) {
    submit_beside_waits(size, vow_executor_pool());
}

static void beside_serials(size_t size) {
    submit_beside_waits(size, NULL);
}

/* Half of them fire, the others are cancelled, ten at once for an item. */
static void timers_of_loop(size_t size) {
    enum { each = 10 };
    static vow_promise *delays[each * MOST];
    vow_loop *loop = vow_loop_create_virtual();
    size_t count = each * size;
    CHECK(loop != NULL);
    measure_begin();
    for (size_t i = 0; i < count; i++) {
        delays[i] = vow_delay((int64_t)(i * 7919 % count) * 1000);
    }
    for (size_t i = 0; i < count; i += 2) {
        size_t place = i * 7919 % count / 2 * 2;
        if (delays[place] != NULL) {
            CHECK(vow_cancel(delays[place]));
            vow_promise_release(delays[place]);
            delays[place] = NULL;
        }
    }
    CHECK(vow_loop_advance(loop, 1000000000) > 0);
    for (size_t i = 0; i < count; i++) {
        vow_promise_release(delays[i]);
    }
    measure_end();
    vow_loop_destroy(loop);
    items = size;
}

const workload curves[] = {
    {"hooks-of-all", "a cancelled promise of all(n), with a hook", 1000, cancel_all_with_hooks,
     false},
    {"hooks-of-scope", "a cancelled promise of a scope, with a hook", 1000, scope_with_hooks,
     false},
    {"hooks-of-token", "a hook of a token", 1000, tokens_hooks, false},
    {"registrations", "two registrations, half of which leave", 1000, registrations, false},
    {"linked-sources", "a source that is linked to one, half of which go", 1000, linked_sources,
     false},
    {"cancel-chain", "a link of a chain that is cancelled", 1000, cancel_chain, false},
    {"cancel-members", "a member of a cancelled all(n)", 1000, cancel_members, false},
    {"cancel-registrations", "a function of a cancelled token", 1000, cancel_registrations, false},
    {"layers", "a layer that a wait in a handler looks through", 12, layered_graph, false},
    {"graph-40", "a wait in a handler for a graph, 4 wide and 40 deep", 10, deep_graphs, false},
    {"watches-of-one", "a watch of a descriptor", 500, watches_of_one, false},
    {"watches-of-many", "a watch, of a descriptor of its own", 1000, watches_of_many, false},
    {"listeners-of-one", "a listener of a promise", 1000, listeners_of_one, false},
    {"reactions", "a reaction that is given up", 1000, give_up_reactions, false},
    {"races", "a race, a member of which has followers", 1000, races, false},
    {"followers", "a follower of a promise that is given up", 1000, follow_first, false},
    {"followers-in-turn", "a follower in no order that is given up, and one that comes", 1000,
     follow_first_in_turn, false},
    {"custom-executors", "an executor that knows its threads", 500, custom_executors, false},
    {"executors-of-others", "a custom executor that is asked in vain", 500, executors_of_others,
     false},
    {"listeners-of-many", "a listener, of a promise of its own", 1000, listeners_of_many, false},
    {"executors-on-queues", "a serial executor on a queue of its own", 1000, executors_on_queues,
     false},
    {"beside-pool", "a waiting pool handler, at 3,000 pieces of work for others", 64, beside_pool,
     true},
    {"beside-serials", "a waiting serial handler, at 3,000 pieces of work for others", 64,
     beside_serials, true},
    {"timers", "ten delays of a virtual loop, of which half are cancelled", 2500, timers_of_loop,
     false},
    {"requests", "a request that follows the tail of a chain", 500, chain_of_requests, false},
    {"long-chain", "a follower of a chain of followers", 500, followers_of_chain, false},
};
const size_t curve_count = sizeof curves / sizeof *curves;
